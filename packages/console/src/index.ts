export { consolePage } from './console-page.js';
