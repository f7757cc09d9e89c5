import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadDefinitions } from '../../../shared/definitions/load-definitions.ts';
import { THREAD_INDEX } from './records.ts';

it('have the same index through HTTP as through the library', () => {
  const { datastores } = loadDefinitions(join(import.meta.dirname, 'datastores'));
  expect(datastores).toMatchObject([{ name: 'trips', indexes: [THREAD_INDEX], triggers: [] }]);
});
