/** Paths for monitors. These paths take any Host and any query, because a load balancer sends its own. */
export const probePaths: ReadonlySet<string> = new Set(['/api/health', '/api/ping'])
