#!/usr/bin/env node
import { main } from '@strandline/cli';

// Ends the process outright: connections that a config has opened for its handlers would keep it up.
process.exit(await main(process.argv.slice(2)));
