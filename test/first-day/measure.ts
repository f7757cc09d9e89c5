import { requestSigner } from '../../shared/client/sign-request.ts';
import { schemalessClient } from '../../shared/client/client.ts';
import { isLocal } from '../support/deployed/options.ts';
import { DATASTORE, type Environment } from '../support/deployed/reach.ts';
import { accountBySdk } from './account-by-sdk.ts';
import { localAccount, NotAsked, type Account } from './account.ts';
import { FAILOVER, measureFailover } from './failover.ts';
import { LAGS, measureLags } from './lags.ts';
import type { FirstDayOptions } from './options.ts';
import type { Result, Row, Section } from './page.ts';
import { BURST, measureBurst, measureRoutes, ROUTES } from './routes.ts';

/** A share of the samples of a route: each of these takes several requests. */
const LAG_SHARE = 0.25;

/**
 * Measures one thing after the other. A row fails if its measurement fails, or finds a failure.
 *
 * @param told receives each row as it is done
 * @throws an Error if the account's environment is another one
 */
export async function measureAll(
  { samples, failover, environment, data }: FirstDayOptions,
  { url, region, readers }: Environment,
  told: (row: Row) => void,
): Promise<readonly Row[]> {
  const opened = { url, datastore: DATASTORE, sign: requestSigner(region) };
  const client = schemalessClient(opened);
  const account = accountOf({ url, region, environment, data });
  await account?.check(url);
  const since = new Date();
  const asked = (): Account => {
    if (account === undefined) throw new NotAsked('--environment NAME asks for it');
    return account;
  };
  const ofAccount = (title: string, how: string, results: (of: Account) => Promise<readonly Result[]>) =>
    [title, async (): Promise<Section> => ({ title, how, results: await results(asked()) })] as const;
  const parts: readonly (readonly [string, () => Promise<Section>])[] = [
    [BURST, () => measureBurst(schemalessClient({ ...opened, joinReads: false }))],
    [ROUTES, () => measureRoutes(client, samples, readers)],
    [LAGS, () => measureLags(client, Math.ceil(samples * LAG_SHARE), readers)],
    [
      FAILOVER,
      async () => {
        if (failover === undefined) throw new NotAsked('--failover GROUP asks for it');
        const failOver = await asked().failOverOf(failover);
        const once = schemalessClient({ ...opened, attempts: 1 });
        return measureFailover({ once, patient: client, failOver });
      },
    ],
    ofAccount(
      'Cold starts',
      'Of all functions while this was measured: how many, the median and the longest initialization, as Lambda reports them.',
      (of) => of.coldStarts(since),
    ),
    ofAccount('Pinned connections', 'Of each RDS Proxy while this was measured.', (of) => of.pinned(since)),
    ofAccount(
      'The bill',
      'Of the last whole day, by service, as Cost Explorer has it, of what carries the tag schemaless:version: of all environments of the account, without what has no tags.',
      (of) => of.bill(),
    ),
  ];
  const rows: Row[] = [];
  for (const [title, measure] of parts) {
    const row = await rowOf(title, measure);
    told(row);
    rows.push(row);
  }
  return rows;
}

async function rowOf(title: string, measure: () => Promise<Section>): Promise<Row> {
  try {
    const section = await measure();
    const { failure } = section;
    return { title, outcome: failure === undefined ? 'passed' : 'FAILED', why: failure ?? '', section };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { title, outcome: error instanceof NotAsked ? 'not asked here' : 'FAILED', why };
  }
}

/** Undefined if the account's environment is not specified. */
function accountOf({
  url,
  region,
  environment,
  data,
}: Pick<FirstDayOptions, 'url' | 'region' | 'environment' | 'data'>): Account | undefined {
  if (isLocal(new URL(url))) return localAccount(data);
  return environment === undefined ? undefined : accountBySdk(region, environment);
}
