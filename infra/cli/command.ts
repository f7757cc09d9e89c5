#!/usr/bin/env node
/** `schemaless`: the command line of a datastore. */
import { keepCompiled, writeCompiled } from './compile-cache.ts';

// Compiling the imports takes half of the time of a short command.
keepCompiled();
const { runCommandLine } = await import('./command-line.ts');
writeCompiled();
await runCommandLine();
