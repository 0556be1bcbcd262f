import { defineConfig } from 'vite';

/** What the browser gets: one script, one style sheet, each named by what is in it, so that it may be kept for ever. */
export default defineConfig({
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/page',
    emptyOutDir: true,
    target: 'es2022',
    assetsDir: 'console',
    // The page's policy allows no inline script, and there is one chunk: nothing to preload.
    modulePreload: false,
    assetsInlineLimit: 0,
    sourcemap: false,
    reportCompressedSize: false,
  },
});
