import type { ChecksOf } from '../check.ts';
import { resourcesOf } from '../needs.ts';

const COPIED = ['Aurora', 'DynamoDB'];

/** AWS Backup skips resources of types that the region has not enabled, even those that a plan names. */
export const backupChecks: ChecksOf = (needs) =>
  resourcesOf(needs, 'AWS::Backup::BackupSelection').length === 0
    ? []
    : [
        {
          name: 'AWS Backup',
          wanted: `${COPIED.join(' and ')} enabled`,
          async judge(aws) {
            const enabled = await aws.backedUpTypes();
            const missing = COPIED.filter((type) => !enabled.has(type));
            if (missing.length === 0) return { verdict: 'ok', found: 'enabled' };
            const wish = missing.map((type) => `${type}=true`).join(',');
            return {
              verdict: 'FAIL',
              found: `not enabled: ${missing.join(', ')}`,
              todo: `aws backup update-region-settings --resource-type-opt-in-preference ${wish}`,
            };
          },
        },
      ];
