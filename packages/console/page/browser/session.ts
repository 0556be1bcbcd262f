import { effect, signal } from '@preact/signals';

/** What this browser remembers. The token only as long as the tab is open; the name and the looks for longer. */
const TOKEN = 'strandline.token';
const BY = 'strandline.by';
const THEME = 'strandline.theme';
const SHORTCUTS = 'strandline.shortcuts';

export type Theme = 'auto' | 'light' | 'dark';

export const token = signal(read(sessionStorage, TOKEN));
/** Set when an answer says that the token is missing or wrong. */
export const tokenAsked = signal(false);
/** Who is at the console, as they call themselves: it is written beside what they do. */
export const by = signal(read(localStorage, BY));
export const theme = signal<Theme>(themeOf(read(localStorage, THEME)));
/** Whether single keys do something: who dictates, or leans on a keyboard, may want to have that off. */
export const shortcuts = signal(read(localStorage, SHORTCUTS) !== 'off');

effect(() => {
  write(sessionStorage, TOKEN, token.value);
});
effect(() => {
  write(localStorage, BY, by.value);
});
effect(() => {
  write(localStorage, THEME, theme.value);
  if (theme.value === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme.value;
});
effect(() => {
  write(localStorage, SHORTCUTS, shortcuts.value ? '' : 'off');
});

function themeOf(text: string): Theme {
  return text === 'light' || text === 'dark' ? text : 'auto';
}

/** A browser may keep nothing for a page. */
function read(storage: Storage, name: string): string {
  try {
    return storage.getItem(name) ?? '';
  } catch {
    return '';
  }
}

function write(storage: Storage, name: string, value: string): void {
  try {
    if (value === '') storage.removeItem(name);
    else storage.setItem(name, value);
  } catch {
    // It is asked for again next time.
  }
}
