import type { Admission } from '../auth/index.ts'
import { AppError } from '../errors/index.ts'
import { type Api, type BoxAuthority, pageLanguage } from '../http/index.ts'
import { consoleFiles } from './files.ts'
import { sendPublic } from './sending.ts'
import { certificatePath, trustPage } from './trust-page.ts'

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
    const icon = names.find((name) => name.startsWith('assets/icon-')) ?? ''
    const text = String(await trustPage(authority()?.fingerprint, { styles, icon }, pageLanguage(c)))
    const answer = sendPublic(c, { type: 'text/html; charset=utf-8', immutable: false, text })
    answer.headers.set('Content-Language', pageLanguage(c))
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

const isStyle = (name: string, stem: string) => name.startsWith(`assets/${stem}-`) && name.endsWith('.css')
