{{/* Variables of the agent; those of the values `env` and `extraEnv` come last and so go before. */}}
{{- define "deneb.environment" -}}
{{- $full := include "deneb.fullname" . -}}
# A folder in the volume, which the agent makes for itself alone; the volume belongs to root and the group of the pod.
- name: DENEB_DATA_DIR
  value: /var/lib/deneb/agent
- name: DENEB_GRACE_PERIOD
  value: {{ .Values.gracePeriodSeconds | quote }}
- name: AGENT_SERVICE_PORT
  value: {{ .Values.notifications.port | quote }}
- name: DENEB_MANAGEMENT_PORT
  value: {{ .Values.management.port | quote }}
{{- if .Values.logging }}
- name: DENEB_LOGGING
  value: /etc/deneb-files/logging.json
{{- end }}
{{- if .Values.nameMappings }}
- name: AGENT_NAME_MAPPINGS
  value: /etc/deneb-files/name-mappings.json
{{- end }}
{{- range $name, $value := dict "AGENT_RDB_DIALECT" .Values.database.dialect "AGENT_RDB_HOST" .Values.database.host "AGENT_RDB_PORT" .Values.database.port "AGENT_RDB_DATABASE" .Values.database.name "AGENT_RDB_OPTIONS" .Values.database.options "AGENT_RDB_DATA_MODEL" .Values.database.dataModel }}
{{- if $value }}
- name: {{ $name }}
  value: {{ include "deneb.text" $value }}
{{- end }}
{{- end }}
{{- if include "deneb.databaseSecret" . }}
{{- if or (and .Values.database.existingSecret .Values.database.usernameKey) .Values.database.username }}
- name: AGENT_RDB_USER_FILE
  value: /run/secrets/database/{{ .Values.database.usernameKey }}
{{- end }}
{{- if or (and .Values.database.existingSecret .Values.database.passwordKey) .Values.database.password }}
- name: AGENT_RDB_PASS_FILE
  value: /run/secrets/database/{{ .Values.database.passwordKey }}
{{- end }}
{{- end }}
{{- if .Values.notifications.tokensSecret }}
- name: AGENT_HTTP_TOKEN_FILE
  value: /run/secrets/notifications/{{ .Values.notifications.tokensKey }}
{{- end }}
{{- if include "deneb.managementSecret" . }}
- name: DENEB_MANAGEMENT_HOST
  value: 0.0.0.0
- name: DENEB_MANAGEMENT_HOSTS
  value: {{ concat (list (printf "%s-agents" $full) (printf "*.%s-agents" $full) (printf "%s-agents.%s.svc" $full .Release.Namespace) (printf "*.%s-agents.%s.svc" $full .Release.Namespace) (printf "*.%s-agents.%s.svc.cluster.local" $full .Release.Namespace)) .Values.management.hosts | join " " | quote }}
{{- if or (and .Values.management.existingSecret .Values.management.readTokensKey) .Values.management.readTokens }}
- name: DENEB_MANAGEMENT_READ_TOKENS_FILE
  value: /run/secrets/management/{{ .Values.management.readTokensKey }}
{{- end }}
{{- if or (and .Values.management.existingSecret .Values.management.adminTokensKey) .Values.management.adminTokens }}
- name: DENEB_MANAGEMENT_ADMIN_TOKENS_FILE
  value: /run/secrets/management/{{ .Values.management.adminTokensKey }}
{{- end }}
{{- if .Values.management.tlsSecret }}
- name: DENEB_MANAGEMENT_TLS_KEY
  value: /run/secrets/management-tls/tls.key
- name: DENEB_MANAGEMENT_TLS_CERTIFICATE
  value: /run/secrets/management-tls/tls.crt
{{- end }}
{{- end }}
{{- with .Values.management.brokerTargets }}
- name: DENEB_BROKER_TARGETS
  value: {{ join " " . | quote }}
{{- end }}
{{- range $name, $value := .Values.env }}
- name: {{ $name }}
  value: {{ include "deneb.text" $value }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "deneb.mounts" -}}
- name: data
  mountPath: /var/lib/deneb
- name: tmp
  mountPath: /tmp
{{- if include "deneb.hasFiles" . }}
# The folder, not its files: Kubernetes updates no file that is mounted by itself.
- name: files
  mountPath: /etc/deneb-files
  readOnly: true
{{- end }}
{{- if include "deneb.databaseSecret" . }}
- name: database
  mountPath: /run/secrets/database
  readOnly: true
{{- end }}
{{- if .Values.notifications.tokensSecret }}
- name: notifications
  mountPath: /run/secrets/notifications
  readOnly: true
{{- end }}
{{- if include "deneb.managementSecret" . }}
- name: management
  mountPath: /run/secrets/management
  readOnly: true
{{- if .Values.management.tlsSecret }}
- name: management-tls
  mountPath: /run/secrets/management-tls
  readOnly: true
{{- end }}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "deneb.volumes" -}}
- name: tmp
  emptyDir: {}
{{- if not .Values.persistence.enabled }}
- name: data
  emptyDir: {}
{{- end }}
{{- if include "deneb.hasFiles" . }}
- name: files
  configMap:
    name: {{ include "deneb.fullname" . }}
{{- end }}
{{- if include "deneb.databaseSecret" . }}
- name: database
  secret:
    secretName: {{ include "deneb.databaseSecret" . }}
    defaultMode: 0440
{{- end }}
{{- if .Values.notifications.tokensSecret }}
- name: notifications
  secret:
    secretName: {{ .Values.notifications.tokensSecret }}
    defaultMode: 0440
{{- end }}
{{- if include "deneb.managementSecret" . }}
- name: management
  secret:
    secretName: {{ include "deneb.managementSecret" . }}
    defaultMode: 0440
{{- if .Values.management.tlsSecret }}
- name: management-tls
  secret:
    secretName: {{ .Values.management.tlsSecret }}
    defaultMode: 0440
{{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}
