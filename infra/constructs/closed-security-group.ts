import { Peer, Port, SecurityGroup, type IVpc } from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';

/**
 * A security group that goes nowhere until it is told to.
 *
 * EC2 lets a group go everywhere as long as the group itself names no rule for it, and the CDK takes the one that it
 * writes in place of none away with the first rule to another group, which is a resource of its own. So this one names a
 * rule that leads nowhere, and stays.
 */
export function closedSecurityGroup(scope: Construct, id: string, vpc: IVpc, description: string): SecurityGroup {
  const group = new SecurityGroup(scope, id, { vpc, description, allowAllOutbound: false });
  group.addEgressRule(Peer.ipv4('127.0.0.1/32'), Port.allTraffic(), 'Nowhere, but for the rules beside this one');
  return group;
}
