/** The value that NGSI-LD gives an attribute, or a member, that was deleted. @beta */
export const DELETED_VALUE = "urn:ngsi-ld:null";
