import { Said } from '../i18n/said.tsx'
import { photoTexts as words } from './photo-texts.ts'
import { usePhoto } from './use-photo.ts'

type Props = {
  sha256: string
  alt: string
  timeZone: string | undefined
  class?: string
  /** The picture itself leads to the file. */
  isLink?: boolean
}

/** A photo that the gateway keeps, or why it is gone. */
export const KeptPhoto = ({ sha256, alt, timeZone, class: look, isLink = false }: Props) => {
  const src = `/api/whms/evidence/photos/${encodeURIComponent(sha256)}`
  const shown = usePhoto(src, timeZone)
  if (shown.state === 'gone')
    return (
      <span class="no-photo muted">
        <Said words={shown.why} />
      </span>
    )
  if (shown.state === 'failed')
    return (
      <span class="no-photo muted">
        {words.failed}{' '}
        <button type="button" onClick={shown.again}>
          {words.again}
        </button>
      </span>
    )
  const picture = <img key={shown.tries} class={look} src={src} alt={alt} loading="lazy" onError={shown.onError} />
  return isLink ? (
    <a class="kept-photo" href={src} target="_blank" rel="noopener">
      {picture}
    </a>
  ) : (
    picture
  )
}
