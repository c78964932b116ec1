import { useEffect, useRef, useState } from 'hono/jsx/dom'
import { follow } from './address.ts'
import type { Camera, List } from './answers.ts'
import { ask, Refused } from './ask.ts'
import { Icon } from './icons.tsx'
import type { Ended } from './players.ts'
import { ScanField } from './scan-field.tsx'

type Props = { siteId: string; onLeft: (why: string) => void }

const everyMs = 10_000
const againMs = 3000

/** The cameras at `/cameras`, one of them live at `/cameras/ID`. */
export const CameraPage = ({ siteId, onLeft }: Props) => {
  const [cameras, setCameras] = useState<readonly Camera[] | undefined>(undefined)
  const [trouble, setTrouble] = useState('')
  const [round, setRound] = useState(0)
  const look = () => {
    if (document.hidden) return
    ask<List<Camera>>('/api/iot/cctv').then(
      ({ data }) => {
        setTrouble('')
        setCameras(data)
        setRound((before) => before + 1)
      },
      (error: Error) => {
        if (error instanceof Refused && error.isSignedOut) onLeft('You were signed out. Sign in again to go on.')
        else setTrouble(error.message)
      },
    )
  }
  useEffect(() => {
    look()
    const timer = setInterval(look, everyMs)
    return () => clearInterval(timer)
  }, [])
  const [, id] = /^\/cameras\/(\d+)$/.exec(location.pathname) ?? []
  const camera = cameras?.find((one) => String(one.id) === id)
  return (
    <>
      <header class="bar">
        <p class="brand">
          <Icon name="logo" /> <span class="brand-name">Gatehouse</span>
        </p>
        <h1 class="site">{camera ? camera.name : `Cameras of ${siteId}`}</h1>
        <ScanField />
        <a class="button plain" href={id === undefined ? '/' : '/cameras'} onClick={follow}>
          {id === undefined ? 'Floor' : 'All cameras'}
        </a>
      </header>
      <div class="trouble" role="alert">
        {trouble === '' ? null : <p>{trouble}</p>}
      </div>
      <main class="camera-page">
        {cameras === undefined ? <p class="blank">Loading …</p> : null}
        {cameras && id === undefined ? <AllCameras cameras={cameras} round={round} /> : null}
        {cameras && id !== undefined && !camera ? <p class="blank">There is no such camera.</p> : null}
        {camera ? <Live key={camera.id} camera={camera} /> : null}
      </main>
    </>
  )
}

const AllCameras = ({ cameras, round }: { cameras: readonly Camera[]; round: number }) => (
  <ul class="camera-list">
    {cameras.map((camera) => (
      <li key={camera.id} class="card">
        <a href={`/cameras/${camera.id}`} onClick={follow}>
          {camera.online ? <img alt="" src={`/api/iot/cctv/${camera.id}/snapshot#${round}`} /> : null}
          <strong>{camera.name}</strong>
        </a>{' '}
        <span class={`chip ${camera.online ? 'ok' : 'off'}`}>{camera.state}</span>
        {camera.problem ? <p class="problem-line">{camera.problem}</p> : null}
      </li>
    ))}
  </ul>
)

type Format = 'mpegts' | 'mpeg1'

const codecsHere = () => {
  const plays = (codec: string) =>
    typeof MediaSource !== 'undefined' && MediaSource.isTypeSupported(`video/mp4; codecs="${codec}"`)
  return [...(plays('avc1.42e01e') ? ['h264'] : []), ...(plays('hvc1.1.6.L93.B0') ? ['h265'] : [])]
}

const Live = ({ camera }: { camera: Camera }) => {
  const codecs = codecsHere()
  const asked = new URLSearchParams(location.search).get('format')
  const [format, setFormat] = useState<Format>(asked === 'mpeg1' || codecs.length === 0 ? 'mpeg1' : 'mpegts')
  const [words, setWords] = useState('Connecting …')
  const [attempt, setAttempt] = useState(0)
  const video = useRef<HTMLVideoElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const ends: (() => void)[] = []
    const onEnd = ({ code, reason }: Ended) => {
      for (const end of ends.splice(0)) end()
      setWords(reason || 'The connection was lost. Trying again …')
      if (format === 'mpegts' && (code === 0 || reason.includes('format=mpeg1'))) setFormat('mpeg1')
      else if (code === 4401) location.reload()
      else if (code !== 4404) setTimeout(() => setAttempt((before) => before + 1), againMs)
    }
    const playing = { onEnd, onBytes: () => setWords('') }
    let isLeft = false
    void import('./players.ts').then(({ playOriginal, playConverted }) => {
      if (isLeft) return
      const query = format === 'mpegts' ? `format=mpegts&codecs=${codecs.join()}` : 'format=mpeg1'
      const url = `${location.origin.replace('http', 'ws')}/api/iot/cctv/${camera.id}/live?${query}`
      if (format === 'mpegts' && video.current) ends.push(playOriginal(url, video.current, playing))
      if (format === 'mpeg1' && canvas.current) ends.push(playConverted(url, canvas.current, playing))
    })
    return () => {
      isLeft = true
      for (const end of ends.splice(0)) end()
    }
  }, [format, attempt])
  const label = `Live pictures of ${camera.name}`
  return (
    <figure class="live">
      {format === 'mpegts' ? (
        <video ref={video} muted playsinline aria-label={label} />
      ) : (
        <canvas key={attempt} ref={canvas} role="img" aria-label={label} />
      )}
      <figcaption role="status">{words}</figcaption>
    </figure>
  )
}
