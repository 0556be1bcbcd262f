/**
 * What `npm start` runs: the demo, with the arguments that it was given. The demo runs in this very process, so
 * signals and the exit code need no passing on.
 */
import { build, install, requireNode } from './prepare.mjs';

requireNode(20, 19);
await install();
await build(['@strandline/demo']);
await import(new URL('../packages/demo/dist/main.js', import.meta.url).href);
