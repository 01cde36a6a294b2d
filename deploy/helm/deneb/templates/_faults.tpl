{{/* Ends with an error for values that contradict each other: pods would start, and get no notification or not become ready. */}}
{{- define "deneb.faults" -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.persistence.enabled) }}
{{- fail "replicas above 1 need persistence.enabled: each agent keeps its events on a volume of its own" }}
{{- end }}
{{- if and .Values.serviceMonitor.enabled (not (or .Values.management.existingSecret .Values.management.readTokens)) }}
{{- fail "serviceMonitor.enabled needs management.readTokens or management.existingSecret: without tokens the management interface is not reachable from other pods" }}
{{- end }}
{{- if eq (int .Values.notifications.port) (int .Values.management.port) }}
{{- fail (printf "notifications.port and management.port are both %d: give each its own" (int .Values.management.port)) }}
{{- end }}
{{- include "deneb.settingFaults" . }}
{{- include "deneb.portFaults" . }}
{{- end -}}

{{/* Settings that the pod needs to know too: each is a value of the chart. */}}
{{- define "deneb.settingFaults" -}}
{{- $values := dict "AGENT_SERVICE_PORT" "notifications.port" "DENEB_MANAGEMENT_PORT" "management.port" "DENEB_GRACE_PERIOD" "gracePeriodSeconds" "--management-port" "management.port" "-p" "management.port" "--grace-period" "gracePeriodSeconds" }}
{{- $given := concat (keys .Values.env) .Values.extraArgs }}
{{- range .Values.extraEnv }}{{ $given = append $given .name }}{{ end }}
{{- range $given }}
{{- $name := regexReplaceAll "=.*" (toString .) "" }}
{{- with get $values $name }}
{{- fail (printf "%s is set by a value of the chart, which the pod and its services follow: use %s" $name .) }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The port that the service leads to is one that a source of `properties` listens on. */}}
{{- define "deneb.portFaults" -}}
{{- $source := printf "(?m)^[ \\t]*%s\\.sources\\.[^.\\s=:]+" (.Values.agentName | default "[^#!.\\s=:]+" ) }}
{{- $lines := regexFindAll (print $source "\\.port[ \\t]*[=: \\t][ \\t]*\\S+") .Values.properties -1 }}
{{- $port := toString .Values.notifications.port }}
{{- $ports := list }}
{{- range $lines }}{{ $ports = append $ports (regexReplaceAll "^[^=:]*\\.port[ \\t]*[=: \\t][ \\t]*" . "") }}{{ end }}
{{- $numbers := list }}
{{- range $ports }}{{ if regexMatch "^[0-9]+$" . }}{{ $numbers = append $numbers . }}{{ end }}{{ end }}
{{- if and $numbers (eq (len $numbers) (len $ports)) (not (has $port $numbers)) }}
{{- fail (printf "notifications.port is %s, and the sources of properties listen on %s: set notifications.port=%s, or write port = ${env:AGENT_SERVICE_PORT} in properties" $port (join ", " $numbers) (first $numbers)) }}
{{- end }}
{{- if and (eq .Values.probes.readiness "notifications") (not $ports) (regexMatch (print $source "\\.type[ \\t]*[=: \\t][ \\t]*(mqtt|kafka)\\s") .Values.properties) }}
{{- fail "properties has no source with a port, so no pod would become ready: set probes.readiness=ready" }}
{{- end }}
{{- end -}}
