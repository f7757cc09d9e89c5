import { Peer, Port, SecurityGroup, type IVpc } from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';

/** A security group without outgoing rules: EC2 allows everything to one without any, so this one rule stays. */
export function closedSecurityGroup(scope: Construct, id: string, vpc: IVpc, description: string): SecurityGroup {
  const group = new SecurityGroup(scope, id, { vpc, description, allowAllOutbound: false });
  group.addEgressRule(Peer.ipv4('127.0.0.1/32'), Port.allTraffic(), 'Nowhere, but for the rules beside this one');
  return group;
}
