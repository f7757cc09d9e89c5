import type { IVpc, SelectedSubnets, SubnetSelection } from 'aws-cdk-lib/aws-ec2';

/** Aurora's minimum. */
const FEWEST_ZONES = 2;

/** Rejects a VPC without usable subnets; accepts one not looked up yet. Throws an Error naming the option. */
export function checkVpc(vpc: IVpc, subnets: SubnetSelection): void {
  const selected = subnetsOf(vpc, subnets);
  if (selected.isPendingLookup === true) return;
  const open = new Set(vpc.publicSubnets.map(({ node }) => node.path));
  const inTheOpen = selected.subnets.filter(({ node }) => open.has(node.path));
  if (inTheOpen.length > 0)
    throw new Error(
      `subnets: wanted isolated or private ones, since nobody outside may reach the clusters, got ${inTheOpen.map(({ node }) => node.path).join(', ')}, which are public`,
    );
  const zones = [...new Set(selected.availabilityZones)];
  if (zones.length < FEWEST_ZONES)
    throw new Error(
      `vpc: wanted subnets for the clusters in ${FEWEST_ZONES} availability zones at least, got some ${zones.length === 0 ? 'in none' : `in ${zones.join(', ')}`} in ${vpc.node.path}`,
    );
}

function subnetsOf(vpc: IVpc, subnets: SubnetSelection): SelectedSubnets {
  try {
    return vpc.selectSubnets(subnets);
  } catch (cause) {
    const { publicSubnets, privateSubnets, isolatedSubnets } = vpc;
    throw new Error(
      `vpc: wanted subnets like ${JSON.stringify(subnets)}, or others that subnets names, got ${publicSubnets.length} public, ${privateSubnets.length} private and ${isolatedSubnets.length} isolated ones in ${vpc.node.path}`,
      { cause },
    );
  }
}
