export { webhook, webhookBatch, type BatchWebhookHandler, type WebhookHandler } from './define.js';
export { WebhookError, WebhookRefusedError, type WebhookErrorCode } from './errors.js';
export type { BatchWebhookOptions, WebhookOptions } from './options.js';
export type { WebhookTlsOptions } from './tls.js';
