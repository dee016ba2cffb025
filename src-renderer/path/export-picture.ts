import { MAP_HEIGHT, MAP_WIDTH } from './netfilter-map.ts'
import type { Size } from './pan-zoom.ts'

/** What a picture needs of the window's style sheet to look the same elsewhere. */
const STYLES = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'opacity',
  'font-family',
  'font-size',
  'font-weight',
  'font-style',
  'letter-spacing',
  'text-anchor',
  'text-decoration-line',
  'transform',
] as const

const MARGIN = 16
const GAP = 24

/** Map and graph, the graph whole whatever part of it is on the screen, as one standalone SVG text. */
export function composePicture(
  map: SVGSVGElement,
  graph: { readonly drawing: SVGGElement; readonly size: Size } | undefined,
  title: string,
): string {
  const width = Math.ceil(Math.max(MAP_WIDTH, graph?.size.width ?? 0)) + 2 * MARGIN
  const graphTop = MARGIN + MAP_HEIGHT + GAP
  const height = Math.ceil(graph ? graphTop + graph.size.height : MARGIN + MAP_HEIGHT) + MARGIN
  const style = getComputedStyle(map)
  const background = style.getPropertyValue('--bg').trim()
  const parts = [
    `<title>${escapeXml(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="${background}"/>`,
    `<g transform="translate(${MARGIN} ${MARGIN})">${childrenOf(map)}</g>`,
  ]
  if (graph) parts.push(`<g transform="translate(${MARGIN} ${graphTop})">${childrenOf(graph.drawing)}</g>`)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${parts.join('')}</svg>\n`
}

/** Twice as large as drawn, so that it stays sharp on a slide. Rejects where the browser cannot draw it. */
export async function renderPng(svg: string): Promise<Blob> {
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = image.naturalWidth * 2
  canvas.height = image.naturalHeight * 2
  const context = canvas.getContext('2d')
  if (!context) throw new Error('this browser has no canvas')
  context.drawImage(image, 0, 0, canvas.width, canvas.height)
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the picture is too large for a PNG'))))
  })
}

function childrenOf(element: SVGElement): string {
  const copy = element.cloneNode(true) as SVGElement
  inlineStyles(element, copy)
  for (const each of copy.querySelectorAll('.flash, .copy, .button-area')) each.remove()
  for (const each of copy.querySelectorAll('*'))
    for (const { name } of [...each.attributes])
      if (/^(class|role|tabindex|aria-.*|data-.*|id)$/.test(name)) each.removeAttribute(name)
  const serializer = new XMLSerializer()
  return [...copy.childNodes]
    .filter((node) => node.nodeType === Node.ELEMENT_NODE && !/^(title|desc)$/.test(node.nodeName))
    .map((node) => serializer.serializeToString(node))
    .join('')
}

function inlineStyles(from: Element, to: Element): void {
  const style = getComputedStyle(from)
  const written = STYLES.flatMap((name) => {
    const value = style.getPropertyValue(name)
    // The transform attribute of an element says the same as its computed style.
    if (name === 'transform' && (value === 'none' || from.hasAttribute('transform'))) return []
    return value === '' ? [] : [`${name}:${value}`]
  })
  to.setAttribute('style', written.join(';'))
  for (const [at, child] of [...from.children].entries()) {
    const copy = to.children[at]
    if (copy) inlineStyles(child, copy)
  }
}

function escapeXml(text: string): string {
  return text.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
