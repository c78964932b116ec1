import { X509Certificate } from 'node:crypto'
import { sha256 } from '../../log/index.ts'

/** What is stamped, and how a request is recognized in its answer. `data` is the text of a checkpoint. */
export type Stamped = { readonly data: Buffer; readonly nonce: Buffer }

/** A verified token, or in words why there is none. */
export type TokenVerdict =
  | { readonly kind: 'stamped'; readonly token: Buffer; readonly atMs: number }
  | { readonly kind: 'refused'; readonly why: string }

const sha256Oid = '2.16.840.1.101.3.4.2.1'
const signedDataOid = '1.2.840.113549.1.7.2'
const tstInfoOid = '1.2.840.113549.1.9.16.1.4'
const extendedKeyUsageOid = '2.5.29.37'
const timeStampingOid = '1.3.6.1.5.5.7.3.8'

/** Loaded with the first time stamp: most gateways ask for none. */
const library = () => import('pkijs')

/** Returns a request for a time stamp (RFC 3161, TimeStampReq) in DER, with the certificate asked for. */
export async function stampRequest({ data, nonce }: Stamped): Promise<Buffer> {
  const pki = await library()
  const { Integer, OctetString } = await import('asn1js')
  const request = new pki.TimeStampReq({
    version: 1,
    messageImprint: new pki.MessageImprint({
      hashAlgorithm: new pki.AlgorithmIdentifier({ algorithmId: sha256Oid }),
      hashedMessage: new OctetString({ valueHex: bytesOf(sha256(data)) }),
    }),
    nonce: new Integer({ valueHex: bytesOf(positive(nonce)) }),
    certReq: true,
  })
  return Buffer.from(request.toSchema().toBER())
}

/**
 * Verifies the answer to a request: that it is granted, stamps this data with this nonce, and is signed by a certificate for time
 * stamps that leads to one of `authorities` (PEM). Never rejects.
 */
export async function verifyStampReply(reply: Buffer, asked: Stamped, authorities: string): Promise<TokenVerdict> {
  try {
    return await verify(reply, asked, authorities)
  } catch (error) {
    // The library throws for bytes that are no answer, and an object with `message` for a signature that does not hold.
    return refused(String((error as { message?: unknown })?.message ?? error).slice(0, 200))
  }
}

async function verify(reply: Buffer, { data, nonce }: Stamped, authorities: string): Promise<TokenVerdict> {
  const pki = await library()
  const { status, timeStampToken } = pki.TimeStampResp.fromBER(bytesOf(reply))
  if (status.status !== 0 && status.status !== 1)
    return refused(`the request was not granted (status ${status.status})`)
  if (!timeStampToken || timeStampToken.contentType !== signedDataOid) return refused('the answer holds no token')
  const signed = new pki.SignedData({ schema: timeStampToken.content })
  const { eContentType, eContent } = signed.encapContentInfo
  if (eContentType !== tstInfoOid || !eContent) return refused('the answer holds no time stamp')
  const info = pki.TSTInfo.fromBER(eContent.getValue())
  const { hashAlgorithm, hashedMessage } = info.messageImprint
  if (hashAlgorithm.algorithmId !== sha256Oid || !same(hashedMessage.valueBlock.valueHexView, sha256(data))) {
    return refused('it stamps another hash')
  }
  if (!info.nonce || !same(info.nonce.valueBlock.valueHexView, positive(nonce))) {
    return refused('it answers another request (nonce)')
  }
  const trustedCerts = certificatesIn(authorities).map((der) => pki.Certificate.fromBER(bytesOf(der)))
  if (signed.signerInfos.length !== 1) return refused('it has not exactly one signature')
  const given = { signer: 0, data: bytesOf(data), trustedCerts, checkDate: info.genTime, extendedMode: true } as const
  const { signatureVerified, signerCertificate: signer } = await signed.verify({ ...given, checkChain: false })
  if (!signatureVerified || !signer) return refused('its signature does not hold')
  // An authority's own certificate in caFile is trusted as it is; any other has to lead to one there.
  const isPinned = trustedCerts.some(({ tbsView }) => same(tbsView, signer.tbsView))
  if (
    isPinned
      ? !isValidAt(signer, info.genTime)
      : !(await signed.verify({ ...given, checkChain: true })).signerCertificateVerified
  ) {
    return refused('its certificate does not lead to one of caFile')
  }
  if (!isForTimeStamps(signer.extensions ?? [])) {
    return refused('it is signed by a certificate that is not for time stamps')
  }
  return { kind: 'stamped', token: await tokenIn(reply), atMs: info.genTime.getTime() }
}

/** Returns the bytes of the token as they came: written anew they could differ from what was signed. */
async function tokenIn(reply: Buffer): Promise<Buffer> {
  const { fromBER, Sequence } = await import('asn1js')
  const { result } = fromBER(bytesOf(reply))
  const token = result instanceof Sequence ? result.valueBlock.value[1] : undefined
  if (!token) throw new Error('the answer holds no token')
  return Buffer.from(token.valueBeforeDecodeView)
}

/** RFC 3161, section 2.3: the extended key usage is critical and names time stamps alone. */
function isForTimeStamps(extensions: readonly { extnID: string; critical: boolean; parsedValue?: unknown }[]): boolean {
  const usage = extensions.find(({ extnID }) => extnID === extendedKeyUsageOid)
  const purposes = (usage?.parsedValue as { keyPurposes?: string[] } | undefined)?.keyPurposes
  return usage?.critical === true && purposes?.length === 1 && purposes[0] === timeStampingOid
}

type Validity = { readonly notBefore: { readonly value: Date }; readonly notAfter: { readonly value: Date } }

const isValidAt = ({ notBefore, notAfter }: Validity, at: Date) => notBefore.value <= at && at <= notAfter.value

/** Returns the certificates of a PEM file in DER. Throws when there is none. */
function certificatesIn(pem: string): Buffer[] {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []
  if (found.length === 0) throw new Error('caFile holds no certificate')
  return found.map((one) => new X509Certificate(one).raw)
}

const refused = (why: string): TokenVerdict => ({ kind: 'refused', why })
const same = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0
/** A DER integer has no more bytes than it needs, and the first bit is its sign. */
const positive = (nonce: Buffer) => Buffer.concat([Buffer.of(1), nonce])
/** The library wants an ArrayBuffer of these bytes alone. */
const bytesOf = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer
