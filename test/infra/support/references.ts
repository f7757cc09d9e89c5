import type { LoadedStack, TemplateResource } from '../../../infra/local/template/template.ts';

function referencesOf(resource: TemplateResource): ReadonlySet<string> {
  const found = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, item] of Object.entries(value)) {
      if (key === 'Ref' || key === 'DependsOn') for (const id of [item].flat()) found.add(String(id));
      else if (key === 'Fn::GetAtt') found.add(String([item].flat()[0]));
      else if (key === 'Fn::Sub')
        for (const [, id] of String([item].flat()[0]).matchAll(/\$\{([^.}]+)[^}]*\}/gu)) found.add(String(id));
      collect(item);
    }
  };
  collect(resource);
  return found;
}

/** The first resources that wait for each other in a circle, which CloudFormation refuses. */
export function circleIn({ template }: LoadedStack): readonly string[] {
  const done = new Set<string>();
  const walk = (id: string, path: readonly string[]): readonly string[] => {
    if (path.includes(id)) return [...path.slice(path.indexOf(id)), id];
    const resource = template.Resources[id];
    if (!resource || done.has(id)) return [];
    for (const next of referencesOf(resource)) {
      const circle = walk(next, [...path, id]);
      if (circle.length > 0) return circle;
    }
    done.add(id);
    return [];
  };
  return (
    Object.keys(template.Resources)
      .map((id) => walk(id, []))
      .find((circle) => circle.length > 0) ?? []
  );
}
