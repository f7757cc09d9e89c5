#!/usr/bin/env node
/** `schemaless`: the command line of a datastore. */
import module from 'node:module';

// To compile all that it imports takes half of the time of a short command. Node 20 has no such cache, and types that
// say that there is one.
const { enableCompileCache, flushCompileCache }: Partial<typeof module> = module;
enableCompileCache?.();
const { runCommandLine } = await import('./command-line.ts');
// Not only when it ends: one that is killed has it the next time, too.
flushCompileCache?.();
await runCommandLine();
