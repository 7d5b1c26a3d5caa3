// Labels of transports.
import { m } from "../paraglide/messages";

export function transportName(transport: string): string {
  const known: Record<string, () => string> = {
    stdio: m.servers_transport_stdio,
    http: m.servers_transport_http,
    "streamable-http": m.servers_transport_streamable,
    "http-sse": m.servers_transport_sse,
  };
  return known[transport]?.() ?? transport;
}
