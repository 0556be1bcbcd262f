// A run that starts a browser, says what it is, and waits to be killed. Plain JavaScript on the built package: the test
// kills this very process, so nothing may stand between.
import { startBrowser } from '../dist/index.js';

const { pid, artifacts } = await startBrowser();
process.stdout.write(`${JSON.stringify({ pid, artifacts })}\n`);
setInterval(() => undefined, 1_000);
