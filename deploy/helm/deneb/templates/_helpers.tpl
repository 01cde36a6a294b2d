{{- define "deneb.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "deneb.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains (include "deneb.name" .) .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "deneb.name" .) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "deneb.selector" -}}
app.kubernetes.io/name: {{ include "deneb.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "deneb.labels" -}}
{{ include "deneb.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "deneb.metadata" -}}
name: {{ include "deneb.fullname" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "deneb.labels" . | nindent 2 }}
{{- end -}}

{{- define "deneb.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "deneb.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "deneb.fullname" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end -}}

{{/* The secret with tokens of the management interface; empty when there is none. */}}
{{- define "deneb.managementSecret" -}}
{{- if .Values.management.existingSecret -}}
{{ .Values.management.existingSecret }}
{{- else if or .Values.management.readTokens .Values.management.adminTokens -}}
{{ include "deneb.fullname" . }}-management
{{- end -}}
{{- end -}}

{{/* The secret with user and password of the database; empty when there is none. */}}
{{- define "deneb.databaseSecret" -}}
{{- if .Values.database.existingSecret -}}
{{ .Values.database.existingSecret }}
{{- else if or .Values.database.username .Values.database.password -}}
{{ include "deneb.fullname" . }}-database
{{- end -}}
{{- end -}}

{{/* A value as quoted text. Numbers are floating-point here, and toString would make 1e+06 of a million. */}}
{{- define "deneb.text" -}}
{{- if kindIs "string" . }}{{ . | quote }}{{ else }}{{ toJson . | quote }}{{ end -}}
{{- end -}}

{{/* Of the pods, which are replaced when one changes. Agents notice changed files, also those of secrets, and restart for none of them. */}}
{{- define "deneb.podAnnotations" -}}
{{- if eq .Values.reload "restart" }}
checksum/files: {{ include (print .Template.BasePath "/configmap.yaml") . | sha256sum }}
checksum/secrets: {{ include (print .Template.BasePath "/secrets.yaml") . | sha256sum }}
{{- else if .Values.logging }}
checksum/logging: {{ toJson .Values.logging | sha256sum }}
{{- end }}
{{- with .Values.podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Whether there is a file of the config map. */}}
{{- define "deneb.hasFiles" -}}
{{- if or .Values.properties .Values.logging .Values.nameMappings -}}yes{{- end -}}
{{- end -}}

{{/* A probe of the management interface: over HTTP where it is open, else by a program in the container. */}}
{{- define "deneb.managementProbe" -}}
{{- if include "deneb.managementSecret" .root -}}
httpGet:
  path: {{ .path }}
  port: management
  {{- if .root.Values.management.tlsSecret }}
  scheme: HTTPS
  {{- end }}
{{- else -}}
exec:
  command: [/usr/local/bin/node, /opt/deneb/health.mjs, {{ .path }}]
{{- end -}}
{{- end -}}
