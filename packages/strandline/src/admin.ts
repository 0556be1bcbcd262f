/** `strandline/admin`: the console, the API, metrics and health of pipelines that a program of one's own runs. */
export { startAdmin, type Admin, type AdminSettings } from '@strandline/cli/admin';
