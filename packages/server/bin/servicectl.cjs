#!/usr/bin/env node
require('./launch.cjs')(__filename, 'src/cli/main', process.argv[2] === 'start');
