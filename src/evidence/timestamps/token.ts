import { X509Certificate } from 'node:crypto'
import { sha256 } from '../../log/index.ts'
import { isBoundedDer } from '../../platform/index.ts'

/** The stamped text, and the nonce that links an answer to its request. `data` is the text of a checkpoint. */
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

/** Loaded with the first time stamp, because most gateways use none. */
const library = () => import('pkijs')

/** Returns a request for a time stamp (RFC 3161, TimeStampReq) in DER that asks for the certificate. */
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
 * Verifies the answer to a request. It must be granted, and stamp this data with this nonce. A certificate for time stamps that
 * leads to one of `authorities` (PEM) must have signed it. Never rejects.
 */
export async function verifyStampReply(reply: Buffer, asked: Stamped, authorities: string): Promise<TokenVerdict> {
  try {
    return await verify(reply, asked, authorities)
  } catch (error) {
    // The library throws for bytes that are no answer, and an object with `message` for a signature that does not hold.
    return refused(String((error as { message?: unknown })?.message ?? error).slice(0, 200))
  }
}

/** Verdict on a stored token: its fault; or its time, and whether it leads to a known authority. */
export type StoredTokenVerdict =
  | { readonly kind: 'holds'; readonly atMs: number; readonly isTrusted: boolean }
  | { readonly kind: 'refused'; readonly why: string }

/**
 * Checks a stored token over this data: it stamps its SHA-256, and its signature holds. `authorities` (PEM) are trusted; undefined:
 * none is. Never rejects.
 */
export async function checkToken(
  token: Buffer,
  data: Buffer,
  authorities: string | undefined,
): Promise<StoredTokenVerdict> {
  try {
    const pki = await library()
    const opened = openToken(pki, pki.ContentInfo.fromBER(bytesOf(token)))
    if (!opened) return { kind: 'refused', why: 'it holds no time stamp' }
    if (!stamps(opened.info, data)) return { kind: 'refused', why: 'it stamps another hash' }
    const isSigned = await signerOf(opened, data, []).then((signer) => signer !== undefined)
    if (!isSigned) return { kind: 'refused', why: 'its signature does not hold' }
    const trustedCerts = authorities === undefined ? [] : readCertificates(pki, authorities)
    // An authority that is not known, or whose certificates have changed since, proves nothing about the token.
    const isTrusted =
      authorities !== undefined &&
      (await isOfAuthority(opened, data, trustedCerts).then(
        (why) => why === undefined,
        () => false,
      ))
    return { kind: 'holds', atMs: opened.info.genTime.getTime(), isTrusted }
  } catch {
    return { kind: 'refused', why: 'its token cannot be read' }
  }
}

async function verify(reply: Buffer, { data, nonce }: Stamped, authorities: string): Promise<TokenVerdict> {
  if (!isBoundedDer(reply)) return refused('the answer is no usual time stamp: it is nested or long beyond measure')
  const pki = await library()
  const { status, timeStampToken } = pki.TimeStampResp.fromBER(bytesOf(reply))
  if (status.status !== 0 && status.status !== 1)
    return refused(`the request was not granted (status ${status.status})`)
  if (!timeStampToken || timeStampToken.contentType !== signedDataOid) return refused('the answer holds no token')
  const opened = openToken(pki, timeStampToken)
  if (!opened) return refused('the answer holds no time stamp')
  const { signed, info } = opened
  if (!stamps(info, data)) return refused('it stamps another hash')
  if (!info.nonce || !same(info.nonce.valueBlock.valueHexView, positive(nonce))) {
    return refused('it answers another request (nonce)')
  }
  const trustedCerts = readCertificates(pki, authorities)
  if (signed.signerInfos.length !== 1) return refused('it has not exactly one signature')
  const why = await isOfAuthority(opened, data, trustedCerts)
  if (why !== undefined) return refused(why)
  return { kind: 'stamped', token: await tokenIn(reply), atMs: info.genTime.getTime() }
}

type Library = Awaited<ReturnType<typeof library>>
type Opened = { readonly signed: InstanceType<Library['SignedData']>; readonly info: InstanceType<Library['TSTInfo']> }
type Certificates = InstanceType<Library['Certificate']>[]

const readCertificates = (pki: Library, pem: string): Certificates =>
  certificatesIn(pem).map((der) => pki.Certificate.fromBER(bytesOf(der)))

/** Returns the signature and the statement in a token; undefined when it has none. */
function openToken(pki: Library, { contentType, content }: InstanceType<Library['ContentInfo']>): Opened | undefined {
  if (contentType !== signedDataOid) return undefined
  const signed = new pki.SignedData({ schema: content })
  const { eContentType, eContent } = signed.encapContentInfo
  const statement = eContentType === tstInfoOid ? eContent?.getValue() : undefined
  return statement && isBoundedDer(new Uint8Array(statement))
    ? { signed, info: pki.TSTInfo.fromBER(statement) }
    : undefined
}

function stamps({ messageImprint: { hashAlgorithm, hashedMessage } }: Opened['info'], data: Buffer): boolean {
  return hashAlgorithm.algorithmId === sha256Oid && same(hashedMessage.valueBlock.valueHexView, sha256(data))
}

const askedOf = ({ info }: Opened, data: Buffer, trustedCerts: Certificates) =>
  ({ signer: 0, data: bytesOf(data), trustedCerts, checkDate: info.genTime, extendedMode: true }) as const

/** Returns the certificate by which the signature of a token holds; undefined when it does not. */
async function signerOf(opened: Opened, data: Buffer, trustedCerts: Certificates) {
  const { signatureVerified, signerCertificate } = await opened.signed.verify({
    ...askedOf(opened, data, trustedCerts),
    checkChain: false,
  })
  return signatureVerified && signerCertificate ? signerCertificate : undefined
}

/** Returns why a token is not one of these authorities; undefined when it is. */
async function isOfAuthority(opened: Opened, data: Buffer, trustedCerts: Certificates): Promise<string | undefined> {
  const { signed, info } = opened
  const given = askedOf(opened, data, trustedCerts)
  const signer = await signerOf(opened, data, trustedCerts)
  if (!signer) return 'its signature does not hold'
  // An authority's own certificate in caFile is trusted as it is; any other has to lead to one there.
  const isPinned = trustedCerts.some(({ tbsView }) => same(tbsView, signer.tbsView))
  if (
    isPinned
      ? !isValidAt(signer, info.genTime)
      : !(await signed.verify({ ...given, checkChain: true })).signerCertificateVerified
  ) {
    return 'its certificate does not lead to one of caFile'
  }
  if (!isForTimeStamps(signer.extensions ?? [])) {
    return 'it is signed by a certificate that is not for time stamps'
  }
  return undefined
}

/** Returns the bytes of the token as they came: encoded again, they could differ from the signed ones. */
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
