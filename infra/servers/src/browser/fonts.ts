/** Which of the fonts stands for what pages ask for. What none of these has is looked for in all. */
const STAND_INS: Readonly<Record<string, readonly string[]>> = {
  'Liberation Sans': ['sans-serif', 'system-ui', 'ui-sans-serif', 'Arial', 'Helvetica'],
  'Liberation Serif': ['serif', 'ui-serif', 'Times', 'Times New Roman'],
  'Liberation Mono': ['monospace', 'ui-monospace', 'Courier', 'Courier New'],
};

/** A configuration of fontconfig that knows the fonts of one folder, and none of the machine. */
export function fontConfiguration(fonts: string, cache: string): string {
  const aliases = Object.entries(STAND_INS).flatMap(([font, names]) =>
    names.map(
      (name) =>
        `<alias binding="same"><family>${name}</family><prefer><family>${font}</family></prefer></alias>`,
    ),
  );
  return [
    '<?xml version="1.0"?>',
    '<!DOCTYPE fontconfig SYSTEM "fonts.dtd">',
    '<fontconfig>',
    `<dir>${escaped(fonts)}</dir>`,
    `<cachedir>${escaped(cache)}</cachedir>`,
    ...aliases,
    '</fontconfig>',
    '',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
