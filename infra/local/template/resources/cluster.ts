import { GROUP_TAG, NODE_TAG } from '../../../constructs/store-environment.ts';
import type { Forwarder, ShardGroup } from '../../mysql/shard-groups.ts';
import { describeResource, type ResourceAddress, ofType } from '../template.ts';
import { clusterArn } from '../../arn.ts';
import type { ResourceKind } from './resource-kind.ts';

/** A cluster is a shard group; its endpoints are forwarders, which follow a promotion. */
export const CLUSTER: ResourceKind = {
  ref: (address, { world }) => groupOf(address, world.groups).name,
  attribute(address, name, { world }) {
    const { name: group, resourceId, writerEndpoint, readerEndpoint } = groupOf(address, world.groups);
    const attributes: Readonly<Record<string, string>> = {
      'Endpoint.Address': writerEndpoint.host,
      'Endpoint.Port': String(writerEndpoint.port),
      'ReadEndpoint.Address': readerEndpoint.host,
      DBClusterArn: clusterArn(group),
      DBClusterResourceId: resourceId,
    };
    return attributes[name];
  },
};

/** An instance is a node, whatever its role. */
export const INSTANCE: ResourceKind = {
  ref: (address) => tagOf(address, NODE_TAG),
  attribute(address, name, { world }) {
    const { host, port } = nodeEndpoint(address, world.groups);
    return name === 'Endpoint.Address' ? host : name === 'Endpoint.Port' ? String(port) : undefined;
  },
};

/** Returns the groups of the clusters and instances, in the clusters' order. */
export function wantedGroups(resources: readonly ResourceAddress[]): { name: string; readers: number }[] {
  const clusters = ofType(resources, 'AWS::RDS::DBCluster');
  const nodes = ofType(resources, 'AWS::RDS::DBInstance').map((address) => tagOf(address, NODE_TAG));
  return clusters.map((cluster) => {
    const name = tagOf(cluster, GROUP_TAG);
    const ofGroup = nodes.filter((node) => groupNameOf(node) === name).length;
    if (ofGroup === 0)
      throw new Error(`${describeResource(cluster)}: wanted an instance tagged ${NODE_TAG} ${name}-a, got none`);
    return { name, readers: ofGroup - 1 };
  });
}

export function groupOf(address: ResourceAddress, groups: readonly ShardGroup[]): ShardGroup {
  const name = tagOf(address, GROUP_TAG);
  const group = groups.find((candidate) => candidate.name === name);
  if (!group) throw new Error(`${describeResource(address)}: no group ${name} is running`);
  return group;
}

function nodeEndpoint(address: ResourceAddress, groups: readonly ShardGroup[]): Forwarder {
  const node = tagOf(address, NODE_TAG);
  const group = groups.find(({ name }) => name === groupNameOf(node));
  const endpoint = group?.instanceEndpoints['abcdef'.indexOf(node.slice(-1))];
  if (!endpoint) throw new Error(`${describeResource(address)}: no node ${node} is running`);
  return endpoint;
}

function groupNameOf(node: string): string {
  return node.slice(0, node.lastIndexOf('-'));
}

function tagOf(address: ResourceAddress, key: string): string {
  const tags: unknown = address.resource.Properties?.['Tags'];
  const tag: unknown = Array.isArray(tags)
    ? tags.find((candidate: { Key?: unknown }) => candidate.Key === key)
    : undefined;
  const value: unknown = Object(tag).Value;
  if (typeof value !== 'string') throw new Error(`${describeResource(address)}: wanted a tag ${key}, got none`);
  return value;
}
