import { requestSigner } from '../../shared/client/sign-request.ts';
import { schemalessClient } from '../../shared/client/client.ts';
import { isLocal } from '../support/deployed/options.ts';
import { DATASTORE } from '../support/deployed/reach.ts';
import { accountBySdk } from './account-by-sdk.ts';
import { measureBurst } from './burst.ts';
import { measureFailover } from './failover.ts';
import type { Figure, Section } from './figure.ts';
import { measureLags } from './lags.ts';
import { localAccount } from './local-account.ts';
import type { FirstDayOptions } from './options.ts';
import { measureRoutes } from './routes.ts';

/** A share of the samples of a route: each of these takes several requests. */
const LAG_SHARE = 0.25;

/**
 * Measures one thing after the other. What cannot be measured is a section that says why.
 *
 * @param told of each section as it is there
 */
export async function measureAll(
  options: FirstDayOptions,
  told: (section: Section) => void,
): Promise<readonly Section[]> {
  const { url, region, samples, failover, environment, data } = options;
  const opened = { url, datastore: DATASTORE, sign: requestSigner(region) };
  const client = schemalessClient(opened);
  const account = isLocal(new URL(url)) ? localAccount(data) : accountBySdk(region, environment);
  const since = new Date();
  const ofAccount = (title: string, how: string, figures: () => Promise<readonly Figure[]>) =>
    [title, async (): Promise<Section> => ({ title, how, figures: await figures() })] as const;
  const parts: readonly (readonly [string, () => Promise<Section>])[] = [
    ['A burst, as its callers see it', () => measureBurst(schemalessClient({ ...opened, joinReads: false }))],
    ['Latency by route', () => measureRoutes(client, samples)],
    ['Lags', () => measureLags(client, schemalessClient(opened), Math.ceil(samples * LAG_SHARE))],
    [
      'A writer that is lost, under load',
      async () => {
        if (failover === undefined) throw new Error('--failover GROUP asks for it');
        return measureFailover(schemalessClient({ ...opened, attempts: 1 }), () => account.failOver(failover));
      },
    ],
    ofAccount(
      'Cold starts',
      'Of all functions while this was measured: how many, the median and the longest initialization, as Lambda reports them.',
      () => account.coldStarts(since),
    ),
    ofAccount('Pinned connections', 'Of each RDS Proxy while this was measured.', () => account.pinned(since)),
    ofAccount('The bill', 'Of the last whole day, by service, as Cost Explorer has it.', () => account.bill()),
  ];
  const sections: Section[] = [];
  for (const [title, measure] of parts) {
    const section = await measure().catch((error: unknown): Section => ({
      title,
      how: `Not measured: ${error instanceof Error ? error.message : String(error)}.`,
      figures: [],
    }));
    told(section);
    sections.push(section);
  }
  return sections;
}
