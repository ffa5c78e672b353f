/** The programs of the graphics card. Numbers reach it as they are in the file; contrast and colour are made here. */

/** As many channels are mixed at once as every card has places for; more are added over them. */
export const CHANNELS_AT_ONCE = 8;

/** A rectangle, without any buffer: corners go by their number. */
export const CORNERS = `#version 300 es
uniform vec4 place; // left, top, right, bottom of the screen, from -1 to 1
out vec2 part;
void main() {
  part = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  gl_Position = vec4(mix(place.xy, place.zw, part), 0.0, 1.0);
}`;

const each = (line: (index: number) => string) =>
  Array.from({ length: CHANNELS_AT_ONCE }, (_, index) => line(index)).join('\n');

export const CHANNELS = `#version 300 es
precision highp float;
precision highp sampler2D;
in vec2 part;
out vec4 painted;
uniform int count;
uniform bool smoothed;
uniform vec2 size;
uniform vec3 colours[${CHANNELS_AT_ONCE}];
uniform vec2 limits[${CHANNELS_AT_ONCE}];
uniform vec4 weights[${CHANNELS_AT_ONCE}]; // how bytes make a number
${each((index) => `uniform sampler2D tile${index};`)}

float number(sampler2D tile, ivec2 at, vec4 weight) {
  return dot(texelFetch(tile, clamp(at, ivec2(0), ivec2(size) - 1), 0), weight);
}

float value(sampler2D tile, vec4 weight) {
  vec2 at = part * size;
  if (!smoothed) return number(tile, ivec2(at), weight);
  vec2 corner = floor(at - 0.5);
  vec2 share = at - 0.5 - corner;
  ivec2 first = ivec2(corner);
  return mix(
    mix(number(tile, first, weight), number(tile, first + ivec2(1, 0), weight), share.x),
    mix(number(tile, first + ivec2(0, 1), weight), number(tile, first + ivec2(1, 1), weight), share.x),
    share.y);
}

float light(float given, vec2 limit) {
  if (!(given > limit.x)) return 0.0;
  return given >= limit.y ? 1.0 : (given - limit.x) / (limit.y - limit.x);
}

void main() {
  vec3 sum = vec3(0.0);
${each((index) => `  if (count > ${index}) sum += colours[${index}] * light(value(tile${index}, weights[${index}]), limits[${index}]);`)}
  painted = vec4(sum, 1.0);
}`;

/** Outlines are as wide on every zoom; a dark seam parts them from bright pixels. */
export const LABELS = `#version 300 es
precision highp float;
precision highp sampler2D;
in vec2 part;
out vec4 painted;
uniform sampler2D labels; // a number as its four bytes
uniform vec2 size;
uniform vec2 step; // pixels of the label image for one of the screen
uniform bool outlined;
uniform bool random;
uniform bool mapped;
uniform sampler2D palette; // a colour for each number, and whether it has one
uniform ivec2 paletteSize;
uniform float lighter;
uniform float strength;
uniform float thick;
uniform vec3 colour;

vec4 label(vec2 at) {
  return texelFetch(labels, clamp(ivec2(at), ivec2(0), ivec2(size) - 1), 0);
}

float number(vec4 bytes) {
  return floor(dot(bytes, vec4(255.0, 65280.0, 16711680.0, 0.0)) + 0.5);
}

bool ends(vec4 here, vec2 at, float radius) {
  vec2 far = step * radius;
  vec2 near = far * 0.7071;
  return label(at + vec2(far.x, 0.0)) != here || label(at - vec2(far.x, 0.0)) != here
    || label(at + vec2(0.0, far.y)) != here || label(at - vec2(0.0, far.y)) != here
    || label(at + near) != here || label(at - near) != here
    || label(at + vec2(near.x, -near.y)) != here || label(at + vec2(-near.x, near.y)) != here;
}

vec3 own(float given) {
  float hue = fract(given * 0.618034);
  vec3 shifted = abs(fract(vec3(hue) + vec3(0.0, 1.0 / 3.0, 2.0 / 3.0)) * 6.0 - 3.0) - 1.0;
  return 0.35 + 0.65 * clamp(shifted, 0.0, 1.0);
}

vec4 mappedColour(vec4 here) {
  int given = int(number(here));
  if (here.a != 0.0 || given >= paletteSize.x * paletteSize.y) return vec4(0.0);
  return texelFetch(palette, ivec2(given % paletteSize.x, given / paletteSize.x), 0);
}

void main() {
  vec2 at = part * size;
  vec4 here = label(at);
  bool isObject = here != vec4(0.0);
  vec3 ink = random ? own(number(here)) : colour;
  vec3 line = ink;
  float cover = isObject ? strength : 0.0;
  if (mapped) {
    vec4 found = mappedColour(here);
    if (found.a > 0.5) {
      ink = found.rgb;
      line = mix(ink, vec3(1.0), lighter);
    } else cover = 0.0;
  }
  if (outlined) {
    if (isObject && ends(here, at, thick)) {
      painted = vec4(line, 1.0);
      return;
    } else if (ends(here, at, isObject ? thick * 1.6 : thick * 0.5)) {
      painted = vec4(ink * cover * 0.5, 0.5 + cover * 0.5);
      return;
    }
  }
  painted = vec4(ink * cover, cover);
}`;
