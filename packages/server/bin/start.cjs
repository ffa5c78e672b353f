#!/usr/bin/env node
require('./launch.cjs')(__filename, 'src/main', true);
