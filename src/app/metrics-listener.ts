import { timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { type Config, readSecretFile, SecretFileError } from '../config/index.ts'
import { AppError, EXIT_CONFIG, ExitError } from '../errors/index.ts'
import type { Metrics } from '../health/index.ts'
import { type Api, newRoot } from '../http/index.ts'
import { sha256 } from '../log/index.ts'
import { type Logger, type RandomBytes, randomSecret, readFileIfThere, writeFileDurably } from '../platform/index.ts'
import { within } from './addresses.ts'

export type MetricsListener = NonNullable<Config['metrics']['listen']>

/**
 * Returns the token that a collector must send; makes one at the first start unless the config names a file. Throws
 * ExitError.
 */
export function metricsToken(listen: MetricsListener, dataDir: string, random: RandomBytes, log: Logger): string {
  if (listen.tokenFile) return tokenOf(secretIn(listen.tokenFile), listen.tokenFile)
  const file = join(dataDir, 'metrics-token')
  const known = readFileIfThere(file)
  if (known) return tokenOf(known.toString('utf8').trim(), file)
  const token = randomSecret(random)
  writeFileDurably(file, `${token}\n`)
  log.info({ file }, 'a token for the collector of metrics was made')
  return token
}

function secretIn(file: string): string {
  try {
    return readSecretFile(file)
  } catch (error) {
    if (error instanceof SecretFileError) throw new ExitError(EXIT_CONFIG, error.message, error)
    throw error
  }
}

function tokenOf(text: string, file: string): string {
  if (text.length < 16) throw new ExitError(EXIT_CONFIG, `${file}: a token for metrics needs at least 16 characters`)
  return text
}

/**
 * Builds GET /metrics for a collector that cannot send the X-Storage headers. It answers only this machine and the named networks,
 * and demands the token as bearer.
 */
export function metricsApi(options: {
  metrics: Pick<Metrics, 'text' | 'contentType'>
  /** Read at every request. */
  token: () => string
  networks: readonly string[]
  log: Logger
  makeRequestId: () => string
}): Api {
  const { metrics, token, networks, log, makeRequestId } = options
  const root = newRoot({ log, makeRequestId, addressOf: ({ peer }) => peer ?? '' })
  const isNear = within(['127.0.0.0/8', '::1/128', ...networks])
  root.get('/metrics', async (c) => {
    if (!isNear(c.get('address'))) throw new AppError('PERMISSION_DENIED', 'Metrics are not for this address')
    const presented = c.req.header('authorization')
    if (presented === undefined) throw new AppError('AUTH_REQUIRED', 'Send the token as bearer')
    if (!timingSafeEqual(sha256(presented), sha256(`Bearer ${token()}`))) {
      throw new AppError('INVALID_CREDENTIALS', 'Wrong metrics token')
    }
    return c.body(await metrics.text(), 200, { 'Content-Type': metrics.contentType })
  })
  return root
}
