import type { ChecksOf } from '../check.ts';

/** CloudFormation answers few requests a second. */
const AT_ONCE = 4;
/** Custom resources and the CDK's metadata. */
const OF_NO_SERVICE = /^(?:Custom::|AWS::CDK::|AWS::CloudFormation::CustomResource)/u;

/** Checks that the region offers every resource type. */
export const resourceTypeChecks: ChecksOf = ({ resources }) => {
  const types = [...new Set(resources.map(({ type }) => type))].filter((type) => !OF_NO_SERVICE.test(type)).toSorted();
  const services = new Set(types.map((type) => type.split('::')[1]));
  return [
    {
      name: 'services',
      wanted: `${types.length} types of resources, of ${services.size} services`,
      async judge(aws) {
        const missing: string[] = [];
        for (let at = 0; at < types.length; at += AT_ONCE) {
          const some = types.slice(at, at + AT_ONCE);
          const offered = await Promise.all(some.map((type) => aws.offersType(type)));
          missing.push(...some.filter((_, position) => !offered[position]));
        }
        if (missing.length === 0) return { verdict: 'ok', found: 'all' };
        return { verdict: 'FAIL', found: `not here: ${missing.join(', ')}`, todo: 'Take another region' };
      },
    },
  ];
};
