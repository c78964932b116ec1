import { type Config, fillTemplate, readSecretFile } from '../../config/index.ts'
import { errorMessage } from '../../platform/faults.ts'
import type { Clock } from '../../platform/index.ts'
import type { Message } from '../message.ts'
import { failed, type Outcome } from './outcome.ts'
import { agentsWith, sendRequest } from './request.ts'
import { trustOf } from './trust.ts'

type Http = NonNullable<Config['alerts']['channels'][number]['http']>

/** Fills the template of an HTTP channel and sends it. Never rejects. */
export async function sendHttp(
  http: Http,
  message: Message,
  needs: { readonly clock: Pick<Clock, 'after'>; readonly signal: AbortSignal },
): Promise<Outcome> {
  let request: Parameters<typeof sendRequest>[0]
  let secrets: string[]
  try {
    const url = urlOf(http)
    const files = Object.entries(http.headerFiles).map(([name, file]) => [name, readSecretFile(file)] as const)
    secrets = [...files.map(([, secret]) => secret), ...(http.urlFile === null ? [] : [url])]
    const filled = Object.entries(http.headers).map(([name, text]) => [name, headerText(fillTemplate(text, message))])
    const secureContext = trustOf(http.caFile)
    request = {
      ...{ url, method: http.method, body: fillTemplate(http.body, message) },
      headers: Object.fromEntries([...filled, ...files]),
      ...(secureContext && { agent: agentsWith(secureContext) }),
    }
  } catch (error) {
    return failed(errorMessage(error))
  }
  const outcome = await sendRequest(request, needs)
  if (outcome.kind !== 'failed') return outcome
  return { ...outcome, error: secrets.reduce((text, secret) => text.replaceAll(secret, '…'), outcome.error) }
}

function urlOf({ url, urlFile }: Http): string {
  const found = url ?? (urlFile === null ? '' : readSecretFile(urlFile).trim())
  if (!URL.canParse(found) || !/^https?:/.test(found))
    throw new Error(`the file ${urlFile} has no http or https address`)
  return found
}

/** The origin of the address, because its path may be a secret. Does not throw. */
export function originOf(http: Http): string {
  try {
    return new URL(urlOf(http)).origin
  } catch {
    return http.urlFile ?? ''
  }
}

/** Headers carry latin letters on one line: other characters are sent as RFC 2047 encodes them, which ntfy reads. */
function headerText(text: string): string {
  const line = text.replace(/[\r\n]+/g, ' ')
  return /^[\x20-\x7e]*$/.test(line) ? line : `=?UTF-8?B?${Buffer.from(line).toString('base64')}?=`
}
