/** Characters of a text in a report. A report has some 60 such texts, and 64 KiB for all of them. */
export const LONGEST_KEY = 64;
export const LONGEST_ID = 64;
export const LONGEST_POSITION = 512;
export const LONGEST_WHY = 200;
