// List rows of a server's resources and templates.

import type { ServerCatalog, Resource, ResourceTemplate } from "$lib/api/generated";
import { fuzzyFilter } from "$lib/format/fuzzy";

/** Row of the list: a resource, a template, or the heading of either group. */
export type ResourceRow =
  | { is: "heading"; of: "resources" | "templates"; count: number }
  | { is: "resource"; resource: Resource }
  | { is: "template"; template: ResourceTemplate };

/** Returns the rows that match the query, resources before templates. */
export function resourceRows(query: string, catalog: ServerCatalog): ResourceRow[] {
  const resources = fuzzyFilter(query, catalog.resources, (resource) => [
    ...[resource.title ?? resource.name, resource.name, resource.uri],
  ]);
  const templates = fuzzyFilter(query, catalog.templates, (template) => [
    ...[template.title ?? template.name, template.name, template.uriTemplate],
  ]);
  const rows: ResourceRow[] = [];
  if (resources.length > 0) {
    rows.push({ is: "heading", of: "resources", count: resources.length });
    rows.push(...resources.map((resource): ResourceRow => ({ is: "resource", resource })));
  }
  if (templates.length > 0) {
    rows.push({ is: "heading", of: "templates", count: templates.length });
    rows.push(...templates.map((template): ResourceRow => ({ is: "template", template })));
  }
  return rows;
}

/** Returns the key of a row in the list. It also identifies the resource or template in the location. */
export function rowKey(row: ResourceRow): string {
  if (row.is === "heading") return `heading ${row.of}`;
  return row.is === "resource" ? row.resource.uri : row.template.uriTemplate;
}

/** Returns the item that the location identifies: a resource, a template, or a URI that is not listed. */
export function selectedItem(
  item: string | undefined,
  catalog: ServerCatalog,
): { uri: string; resource: Resource | null } | { template: ResourceTemplate } | null {
  if (item === undefined) return null;
  const resource = catalog.resources.find((resource) => resource.uri === item) ?? null;
  if (resource === null) {
    const template = catalog.templates.find((template) => template.uriTemplate === item);
    if (template) return { template };
  }
  return { uri: item, resource };
}
