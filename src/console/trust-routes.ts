import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import type { Admission } from '../auth/index.ts'
import { AppError } from '../errors/index.ts'
import type { Api, AppEnv, BoxAuthority } from '../http/index.ts'
import { consoleFiles } from './files.ts'
import { sendPublic } from './sending.ts'
import { certificatePath, trustPage } from './trust-page.ts'
import type { TrustLanguage } from './trust-texts.ts'

export type TrustParts = {
  readonly admission: Admission
  /** The box's own CA; undefined when a listener's certificate is not of it. */
  readonly authority: () => BoxAuthority | undefined
}

/**
 * Adds /trust, which shows how each kind of device comes to trust the box's own CA, and the certificate. Both need no
 * sign-in and no script: this is what a device opens before it trusts anything here.
 */
export function trustRoutes(api: Api, { admission, authority }: TrustParts): void {
  api.get('/trust', async (c) => {
    admission.anybody('console', c.get('address'))
    const names = [...(await consoleFiles()).keys()]
    const styles = ['style', 'trust'].map((stem) => names.find((name) => isStyle(name, stem)) ?? '')
    const text = String(await trustPage(authority()?.fingerprint, styles, languageOf(c)))
    const answer = sendPublic(c, { type: 'text/html; charset=utf-8', immutable: false, text })
    answer.headers.set('Content-Language', languageOf(c))
    answer.headers.append('Vary', 'Accept-Language')
    return answer
  })
  api.get(certificatePath, (c) => {
    admission.anybody('console', c.get('address'))
    const found = authority()
    if (!found) throw AppError.notFound('Certificate')
    c.header('Content-Disposition', 'attachment; filename="gatehouse-ca.crt"')
    return sendPublic(c, { type: 'application/x-x509-ca-cert', immutable: false, text: found.pem })
  })
}

/** The language that the address asks for, else the one that the browser likes best. */
function languageOf(c: Context<AppEnv>): TrustLanguage {
  const asked = c.req.query('language')
  if (asked === 'en' || asked === 'de') return asked
  const best = accepts(c, {
    ...{ header: 'Accept-Language', supports: ['en', 'de'], default: 'en' },
    // `de-AT` is German.
    match: (likes, { supports, default: otherwise }) =>
      likes
        .toSorted((one, other) => other.q - one.q)
        .map(({ type }) => type.slice(0, 2).toLowerCase())
        .find((language) => supports.includes(language)) ?? otherwise,
  })
  return best === 'de' ? 'de' : 'en'
}

const isStyle = (name: string, stem: string) => name.startsWith(`assets/${stem}-`) && name.endsWith('.css')
