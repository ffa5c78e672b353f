#!/usr/bin/env node
require('./launch.cjs')(__filename, 'src/cli/main.ts', process.argv[2] === 'start');
