/** What a Chromium of a test is started with. */
export function switches(launcher: string, profile: string): string[] {
  return [
    '--headless',
    `--user-data-dir=${profile}`,
    '--remote-debugging-port=0', // which one it took is in a file of the profile
    // It shows the project's own pages, and containers rarely allow what its sandbox needs.
    '--no-sandbox',
    // The process that it would fork the others from is started as /proc/self/exe, which can't be told otherwise.
    '--no-zygote',
    `--browser-subprocess-path=${launcher}`,
    // Containers have 64 MB of it or none; TMPDIR takes its place.
    '--disable-dev-shm-usage',
    '--disable-gpu',
    // A test reaches this machine alone, whatever a page asks for.
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1, EXCLUDE [::1]',
    '--no-proxy-server',
    ...QUIET,
    ...UNHURRIED,
    ...ALIKE,
    'about:blank',
  ];
}

/** It does nothing of its own accord. */
const QUIET = [
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-field-trial-config',
  '--disable-sync',
  '--disable-features=HttpsUpgrades,MediaRouter,OptimizationHints,Translate',
  '--metrics-recording-only',
  '--mute-audio',
  '--password-store=basic',
];

/** Pages run as they would before somebody's eyes, however many there are and however slow the machine is. */
const UNHURRIED = [
  '--disable-back-forward-cache', // Playwright does not follow a page into it
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-hang-monitor',
  '--disable-ipc-flooding-protection',
  '--disable-renderer-backgrounding',
];

/** Pictures are the same on every machine. */
const ALIKE = [
  '--force-color-profile=srgb',
  '--force-device-scale-factor=1',
  '--font-render-hinting=none',
  '--hide-scrollbars',
  '--lang=en-US',
];
