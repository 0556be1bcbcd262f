export { deadLetterDesk, deadLetters } from './dead-letters.js';
export { LettersError, type LettersErrorCode } from './errors.js';
export type { DeadLettersOptions } from './options.js';
