export { OffsetsError, type OffsetsErrorCode } from './errors.js';
export { fileOffsets, type FileOffsetsOptions } from './file-offsets.js';
export { memoryOffsets, type MemoryOffsetsOptions } from './memory-offsets.js';
