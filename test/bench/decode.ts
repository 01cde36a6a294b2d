import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { decode } from "../../core/ngsi/index.js";
import { choose } from "./choose.js";
import { decodeForms, growingForms } from "./decode-forms.js";
import { type Decode, measureForms } from "./decode-measure.js";
import { decodeTable } from "./decode-table.js";

const usage = `node dist/test/bench/decode.js [OPTION ...] [TEXT ...]

CPU time to decode a notification, for each form whose name holds one of the texts: all forms without. JSON.parse of the
same text is the floor. Medians of the rounds, least and greatest beside; forms take turns in each round.

  --rounds N      rounds (9)
  --slice N       CPU milliseconds of each form in each round (40)
  --growing       bodies of 1 KB to 10 MB instead
  --against DIR   also measures the decoder of another build (its dist), in the same turns
  --help          prints this`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "9" },
    slice: { type: "string", default: "40" },
    growing: { type: "boolean", default: false },
    against: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) console.log(usage);
else await measure();

async function measure(): Promise<void> {
  const forms = choose(values.growing ? growingForms() : decodeForms(), positionals);
  const other = values.against === undefined ? undefined : await decodeOf(values.against);
  const measured = measureForms(forms, {
    rounds: Number(values.rounds),
    slice: Number(values.slice),
    decoders: other === undefined ? [decode] : [decode, other],
  });
  console.log(decodeTable(measured));
}

async function decodeOf(folder: string): Promise<Decode> {
  const module: { readonly decode: Decode } = await import(pathToFileURL(`${folder}/core/ngsi/index.js`).href);
  return module.decode;
}
