/** Icons on a field of 24 by 24, in the color of the text; hidden from screen readers. */
const shapes = {
  logo: 'M4 20V9.5L12 5l8 4.5V20M8.5 20v-7h7v7M8.5 16.5h7',
  placed: 'M12 3v10m-4-4 4 4 4-4M4 15v5h16v-5',
  removed: 'M12 13V3M8 7l4-4 4 4M4 15v5h16v-5',
  verified: 'M4.5 12.5 10 18 20 6.5',
  disputed: 'M12 4v10.5M12 19v.6',
  occupied: 'M5 5h14v14H5zM5 10h14M12 5v5',
  retired: 'M5 5l14 14M19 5 5 19',
  warning: 'M12 3.5 22 20.5H2zM12 10v4.5M12 17.2v.4',
  camera: 'M3 7h12v10H3zM15 11l6-3.5v9L15 13',
  webhook: 'M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.300l-1 1M14 10a4 4 0 0 0-5.700 0l-3 3A4 4 0 0 0 11 18.700l1-1',
  bell: 'M6 17V11a6 6 0 0 1 12 0v6l1.500 2h-15zM10.500 21.500h3',
  out: 'M14 4h6v16h-6M4 12h11m-4-4 4 4-4 4',
  close: 'M6 6l12 12M18 6 6 18',
  closer: 'M5 12h14M12 5v14',
  farther: 'M5 12h14',
  whole: 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5',
  find: 'M10.500 4a6.500 6.500 0 1 1 0 13a6.500 6.500 0 0 1 0-13M15.500 15.500 21 21',
  proof: 'M12 3l8 3v6c0 4.500-3.300 7.600-8 9c-4.700-1.400-8-4.500-8-9V6zM8.500 12l2.500 2.500 4.500-5',
  print: 'M7 8V3h10v5M7 17H4V9h16v8h-3M7 14h10v7H7z',
  link: 'M10 14a4 4 0 0 0 5.700 0l3-3A4 4 0 0 0 13 5.300l-1 1M14 10a4 4 0 0 0-5.700 0l-3 3A4 4 0 0 0 11 18.700l1-1',
  lost: 'M3 9.500a13 13 0 0 1 18 0M6.500 13a8 8 0 0 1 11 0M10 16.500a3 3 0 0 1 4 0M12 20v.300M4 4l16 16',
} as const

export type IconName = keyof typeof shapes

export const iconPath = (name: IconName): string => shapes[name]

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d={shapes[name]} />
  </svg>
)
