import '../support/quiet.ts';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { bundleFunctions } from '../../../infra/stacks/bundles.ts';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { folderOfTests } from '../../infra/support/folder-of-tests.ts';
import { cellOf } from '../../shared/triggers/consume/support/stage.ts';
import { triggerStage } from '../support/trigger-stage.ts';

const HANDLER = join(PROJECT_ROOT, 'functions/triggers/trigger-handler.ts');
const MODULES = {
  throwing: "throw new Error('no table of fares');",
  hanging: 'await new Promise(() => undefined);',
  absent: 'export const handle = 1;',
  other: `import { triggerHandler } from '${HANDLER}'; export const handler = triggerHandler('bill_driver', () => undefined);`,
  failing: `import { triggerHandler } from '${HANDLER}';
interface Fare { readonly total: number }
const totalOf = (fares: readonly Fare[]): number => fares[0]!.total;
export const handler = triggerHandler('bill_rider', async () => totalOf([]));`,
  good: `import { triggerHandler } from '${HANDLER}'; export const handler = triggerHandler('bill_rider', () => undefined);`,
};
type Name = keyof typeof MODULES;

const folder = folderOfTests();
const stage = await triggerStage();
beforeAll(() => {
  const triggers = Object.fromEntries(
    Object.entries(MODULES).map(([name, text]) => {
      const path = join(folder.path, 'sources', `${name}.ts`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      return [name, { trigger: 'bill_rider', file: `functions/${name}.ts`, path }];
    }),
  );
  bundleFunctions({ functions: {}, triggers, access: 'mysql', proxy: false, folder: join(folder.path, 'bundles') });
});

const LAMBDA = { awsRequestId: 'request-1', getRemainingTimeInMillis: () => 60_000 };

async function open(name: Name) {
  await stage.redeploy();
  // As Node loads it: places in stacks are those of the bundle.
  return createRequire(import.meta.url)(join(folder.path, 'bundles', name, 'index.mjs')).handler;
}

describe("a trigger's bundle", () => {
  it.each<[Name, string]>([
    ['throwing', 'no table of fares at throwing.ts:1'],
    ['hanging', 'functions/hanging.ts: it did not load within 10 s'],
    ['absent', 'functions/absent.ts: wanted an exported handler made by triggerHandler, got none'],
    ['other', 'functions/other.ts: wanted the function of trigger bill_rider, got that of bill_driver'],
  ])(
    'whose module is %s fails its messages with that error, from the first one on, and parks them by the usual rules',
    async (name, error) => {
      const handler = await open(name);
      await stage.send(17, 1);
      const event = await stage.nextEvent();
      const exit = vi.spyOn(process, 'exit').mockImplementation((() => undefined) as never);
      expect(await handler(event, LAMBDA)).toEqual({
        batchItemFailures: event.Records.map(({ messageId }) => ({ itemIdentifier: messageId })),
      });
      const [failing] = (await stage.deployed.store.shards([17])).flatMap(({ cells }) => cells);
      expect(failing).toMatchObject({ attempts: 1, last_error: error });
      expect(exit.mock.calls).toEqual([[1]]);
      // It comes again after a second, and has two attempts.
      const again = await stage.nextEvent();
      expect(await handler(again, LAMBDA)).toEqual({ batchItemFailures: [] });
      // Not before its message has left the queue.
      expect(exit).toHaveBeenCalledTimes(1);
      const [parked] = (await stage.deployed.store.shards([17])).flatMap(({ cells }) => cells);
      expect(parked).toMatchObject({ attempts: 2, last_error: error, parked_at: expect.any(String) });
      expect(parked && cellOf(parked.message)).toBe('17/1');
      await expect(handler({ Records: [] }, LAMBDA)).rejects.toThrow(error.split(' at ')[0]);
    },
  );

  it('calls the function of its module', async () => {
    const handler = await open('good');
    expect(await handler({ Records: [] }, LAMBDA)).toEqual({ batchItemFailures: [] });
    await stage.send(17, 1);
    expect(await handler(await stage.nextEvent(), LAMBDA)).toEqual({ batchItemFailures: [] });
    expect(await stage.deployed.store.status()).toMatchObject({ troubled_blocks: [] });
  });
  it('that fails says at which line of its source', async () => {
    const handler = await open('failing');
    await stage.send(17, 1);
    await handler(await stage.nextEvent(), LAMBDA);
    const [failing] = (await stage.deployed.store.shards([17])).flatMap(({ cells }) => cells);
    expect(failing?.last_error).toBe(
      "TypeError: Cannot read properties of undefined (reading 'total') at failing.ts:3",
    );
  });
});
