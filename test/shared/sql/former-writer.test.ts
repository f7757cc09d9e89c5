import { expect, inject, it } from 'vitest';
import type { Endpoint } from '../../../shared/sql/endpoints.ts';
import { clientTo, groupAccess } from '../../support/connection-to.ts';
import { startRelay } from '../../support/relay.ts';

const ID = { sql: 'SELECT @@server_id', parameters: [] };

it.skipIf(inject('servers').access === 'data-api')(
  'no server answers for the writer that the name of the writer led to for a moment, during a failover',
  async () => {
    const access = groupAccess();
    let to: Endpoint = access.writer;
    await using relay = await startRelay({ to: () => to });
    const client = clientTo({ ...access, writer: relay.endpoint });
    const direct = clientTo(access);
    const [writer] = await direct.select(ID, 'writer');
    to = access.reader;
    await expect(client.select(ID, 'writer')).rejects.toMatchObject({ failure: 'unreachable' });
    // The others at once: they open no connection for it.
    await expect(client.select(ID, 'writer')).rejects.toMatchObject({ failure: 'unreachable' });
    expect(await client.select(ID, 'reader')).not.toEqual([writer]);
    to = access.writer;
    await expect.poll(() => client.select(ID, 'writer').catch(() => undefined)).toEqual([writer]);
    await Promise.all([client.close(), direct.close()]);
  },
);
