import { Sights } from '../../accounts/index.ts'
import type { Config } from '../../config/index.ts'
import { DetectionModels } from '../../console/index.ts'
import { ExitError } from '../../errors/index.ts'
import type { Metrics } from '../../health/index.ts'
import type { Api } from '../../http/index.ts'
import type { StreamHub } from '../../stream/index.ts'
import { addressResolver, tlsResolver } from '../addresses.ts'
import { buildApi } from '../api.ts'
import { asOf } from '../as-of.ts'
import type { Takeover } from '../control/takeover.ts'
import { ownHosts } from '../host-names.ts'
import { metricsApi, metricsToken } from '../metrics-listener.ts'
import type { Outside } from '../outside.ts'
import type { ComposedCallers } from './callers.ts'
import type { ComposedEvidence } from './evidence.ts'
import type { ComposedLedger } from './ledger.ts'
import type { ComposedPrivacy } from './privacy.ts'
import type { ComposedReporting } from './reporting.ts'
import type { ComposedStorage } from './storage.ts'
import type { ComposedVideo } from './video.ts'

/** Builds the API behind its access checks. Hosts, proxies and origins are read from the config at each request. */
export function composeApi(
  live: { config: Config },
  { clock, log, version }: Outside,
  parts: ComposedStorage &
    ComposedCallers &
    ComposedLedger &
    ComposedVideo &
    ComposedPrivacy &
    ComposedEvidence &
    ComposedReporting & {
      readonly metrics: Metrics
      readonly streamHub: StreamHub
      readonly takeover: Takeover
    },
): Api {
  const startedMs = clock.monotonic()
  const detectionModels = new DetectionModels({ settings: () => live.config.console.objectDetection, log })
  // Logs an unusable model at the start, before anybody looks at a camera.
  void detectionModels.describe()
  const { callerNamed, warehouse, configured, names, siteUrl } = parts
  return buildApi({
    ...parts,
    sights: new Sights({
      callerNamed,
      warehouse,
      cameras: configured,
      names,
      siteUrl,
      narrowed: () => live.config.warehouses,
    }),
    log,
    clock,
    version,
    detectionModels,
    addressOf: asOf(() => live.config.http.trustedProxies, addressResolver),
    isOverTls: asOf(() => live.config.http.trustedProxies, tlsResolver),
    corsOrigins: () => live.config.http.corsOrigins,
    isOurHost: ownHosts(() => live.config),
    servesPlainHttp: () => live.config.listen.some(({ tls, allowPlainHttp }) => tls === null && allowPlainHttp),
    site: () => ({
      siteId: live.config.site.id,
      instance: live.config.site.url,
      storageInstances: live.config.storage.instances.map(({ url }) => url),
      providers: live.config.auth.oidc.map(({ issuer }) => issuer),
    }),
    uptimeSeconds: () => (clock.monotonic() - startedMs) / 1000,
  })
}

/**
 * Builds the listener for collectors. A reload reads its token again; a bad token leaves the old one valid. Undefined without such
 * a listener. Throws ExitError for a token that cannot be used.
 */
export function composeMetricsApi(
  { metrics: { listen }, dataDir }: Config,
  { random, log }: Outside,
  { metrics, makeId }: { readonly metrics: Metrics; readonly makeId: () => string },
): { api: Api; onReload: () => void } | undefined {
  if (!listen) return undefined
  const read = () => metricsToken(listen, dataDir, random, log)
  let token = read()
  const api = metricsApi({ metrics, token: () => token, networks: listen.networks, log, makeRequestId: makeId })
  return {
    api,
    onReload: () => {
      try {
        token = read()
      } catch (error) {
        if (!(error instanceof ExitError)) throw error
        log.error({ problem: error.message }, 'the new token for metrics is bad; the old one stays')
      }
    },
  }
}
