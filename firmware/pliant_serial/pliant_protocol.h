/* The pliant serial line protocol, version 1: the device's side. Plain C, no allocation, no library.

   $<sequence> <verb> <arguments>*<CRC-32, 8 hexadecimal digits>\n

   Include it once, call pliant_feed() for every byte that comes in and pliant_tick() often. It calls
     pliant_write(text)        to send an answer,
     pliant_apply(k, counts)   to move the k-th channel (0 … PLIANT_CHANNELS - 1).
   Channels have the ids 1 … PLIANT_CHANNELS on the wire. See docs/hardware.md. Apache-2.0. */

#ifndef PLIANT_PROTOCOL_H
#define PLIANT_PROTOCOL_H

#include <stdint.h>
#include <string.h>

#ifndef PLIANT_CHANNELS
#define PLIANT_CHANNELS 4
#endif
#if PLIANT_CHANNELS < 1 || PLIANT_CHANNELS > 15
#error "1 to 15 channels: the answer to Q with all of them must fit a line"
#endif
#define PLIANT_LONGEST 240
#define PLIANT_LONGEST_WATCHDOG 10000UL

void pliant_write(const char *text);
void pliant_apply(int channel, int32_t counts);

enum pliant_state { PLIANT_IDLE, PLIANT_ARMED, PLIANT_SAFE };

static struct {
  enum pliant_state state;
  uint32_t watchdog, heard; /* [ms] */
  int32_t position[PLIANT_CHANNELS], low[PLIANT_CHANNELS], high[PLIANT_CHANNELS], safe[PLIANT_CHANNELS];
  uint8_t hold[PLIANT_CHANNELS], known[PLIANT_CHANNELS]; /* known: it was sent somewhere since the board started */
  char line[PLIANT_LONGEST + 1];
  uint16_t length;
  uint8_t inside;
} pliant;

static uint32_t pliant_crc(const char *text, uint16_t length) {
  uint32_t crc = 0xFFFFFFFFUL;
  for (uint16_t i = 0; i < length; i++) {
    crc ^= (uint8_t)text[i];
    for (uint8_t bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (0xEDB88320UL & (0UL - (crc & 1UL)));
  }
  return ~crc;
}

static void pliant_setup(void) {
  memset(&pliant, 0, sizeof pliant);
  for (int k = 0; k < PLIANT_CHANNELS; k++) {
    pliant.low[k] = INT32_MIN;
    pliant.high[k] = INT32_MAX;
    pliant.hold[k] = 1;
  }
}

static void pliant_move(int k, int32_t counts) {
  pliant.position[k] = counts;
  pliant.known[k] = 1;
  pliant_apply(k, counts);
}

static void pliant_go_safe(void) {
  pliant.state = PLIANT_SAFE;
  for (int k = 0; k < PLIANT_CHANNELS; k++)
    if (!pliant.hold[k]) pliant_move(k, pliant.safe[k]);
}

static void pliant_tick(uint32_t now) {
  if (pliant.state == PLIANT_ARMED && now - pliant.heard > pliant.watchdog) pliant_go_safe();
}

/* Numbers: from *text, moving it on; 0 if there is none, or it does not fit. */

static int pliant_number(const char **text, int digits, int32_t *value) {
  const char *p = *text;
  int negative = *p == '-', n = 0;
  int64_t sum = 0;
  if (negative) p++;
  for (; *p >= '0' && *p <= '9'; p++) {
    if (++n > digits) return 0;
    sum = 10 * sum + (*p - '0');
  }
  if (negative) sum = -sum;
  if (n == 0 || sum < INT32_MIN || sum > INT32_MAX) return 0;
  *value = (int32_t)sum;
  *text = p;
  return 1;
}

static int pliant_channel(const char **text, int *k) { /* k = -1: an id that this board does not have */
  int32_t id;
  if (**text == '-' || !pliant_number(text, 3, &id)) return 0;
  *k = id >= 1 && id <= PLIANT_CHANNELS ? (int)id - 1 : -1;
  return 1;
}

/* Answers */

static char *pliant_put(char *out, const char *text) {
  while (*text) *out++ = *text++;
  return out;
}

static char *pliant_put_number(char *out, int32_t value) {
  char digits[12];
  int n = 0;
  uint32_t rest = value < 0 ? 0UL - (uint32_t)value : (uint32_t)value;
  if (value < 0) *out++ = '-';
  do {
    digits[n++] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest);
  while (n) *out++ = digits[--n];
  return out;
}

static void pliant_answer(int32_t sequence, const char *verb, const char *words) {
  char out[PLIANT_LONGEST + 16], *end;
  out[0] = '$';
  end = pliant_put(pliant_put_number(out + 1, sequence), " ");
  end = pliant_put(end, verb);
  if (*words) end = pliant_put(pliant_put(end, " "), words);
  uint32_t crc = pliant_crc(out + 1, (uint16_t)(end - out - 1));
  *end++ = '*';
  for (int shift = 28; shift >= 0; shift -= 4) *end++ = "0123456789ABCDEF"[(crc >> shift) & 15];
  *end++ = '\n';
  *end = 0;
  pliant_write(out);
}

/* Requests: each gets its arguments, with a space before every one, and returns why it refuses, or 0. */

static const char *pliant_declare(const char *p) { /* D id low high safe */
  int32_t low, high, safe = 0;
  int hold = 0, k;
  if (pliant.state == PLIANT_ARMED) return "armed";
  if (*p++ != ' ' || !pliant_channel(&p, &k)) return "arguments";
  if (*p++ != ' ' || !pliant_number(&p, 10, &low) || *p++ != ' ' || !pliant_number(&p, 10, &high) || *p++ != ' ')
    return "arguments";
  if (strcmp(p, "hold") == 0) {
    hold = 1;
  } else if (!pliant_number(&p, 10, &safe) || *p) {
    return "range";
  }
  if (k < 0 || low > high || (!hold && (safe < low || safe > high))) return "range";
  pliant.low[k] = low;
  pliant.high[k] = high;
  pliant.safe[k] = safe;
  pliant.hold[k] = (uint8_t)hold;
  return 0;
}

static const char *pliant_watch(const char *p) { /* W milliseconds */
  int32_t value;
  if (*p++ != ' ' || *p == '-' || !pliant_number(&p, 5, &value) || *p) return "arguments";
  if (value < 1 || (uint32_t)value > PLIANT_LONGEST_WATCHDOG) return "range";
  pliant.watchdog = (uint32_t)value;
  return 0;
}

static const char *pliant_set(const char *p, uint32_t now) { /* S id:counts … : all of them or none */
  int32_t asked[PLIANT_CHANNELS];
  uint8_t named[PLIANT_CHANNELS] = {0}, strange = 0, outside = 0;
  if (!*p) return "arguments";
  while (*p) {
    int32_t counts;
    int k;
    if (*p++ != ' ' || !pliant_channel(&p, &k) || *p++ != ':' || !pliant_number(&p, 10, &counts)) return "arguments";
    if (k < 0) {
      strange = 1;
      continue;
    }
    if (named[k]) return "arguments";
    if (counts < pliant.low[k] || counts > pliant.high[k]) outside = 1;
    asked[k] = counts;
    named[k] = 1;
  }
  if (pliant.state != PLIANT_ARMED) return "safe";
  if (strange) return "channel";
  if (outside) return "range";
  for (int k = 0; k < PLIANT_CHANNELS; k++)
    if (named[k]) pliant_move(k, asked[k]);
  pliant.heard = now;
  return 0;
}

static void pliant_do(int32_t sequence, char verb, const char *arguments, uint32_t now) {
  const char *refused = 0;
  char words[PLIANT_LONGEST - 20], *end = words;
  switch (verb) {
    case 'I':
      if (*arguments) { refused = "arguments"; break; }
      end = pliant_put(end, "pliant 1");
      for (int k = 0; k < PLIANT_CHANNELS; k++) end = pliant_put_number(pliant_put(end, " "), k + 1);
      *end = 0;
      pliant_answer(sequence, "V", words);
      return;
    case 'Q':
      if (*arguments) { refused = "arguments"; break; }
      for (int k = 0; k < PLIANT_CHANNELS; k++) {
        if (!pliant.known[k]) continue;
        if (end != words) end = pliant_put(end, " ");
        end = pliant_put_number(pliant_put(pliant_put_number(end, k + 1), ":"), pliant.position[k]);
      }
      *end = 0;
      pliant_answer(sequence, "R", words);
      return;
    case 'D': refused = pliant_declare(arguments); break;
    case 'W': refused = pliant_watch(arguments); break;
    case 'S': refused = pliant_set(arguments, now); break;
    case 'Z':
      if (*arguments) refused = "verb";
      else pliant_go_safe();
      break;
    case 'G':
      if (*arguments) refused = "verb";
      else if (!pliant.watchdog) refused = "watchdog";
      else {
        pliant.state = PLIANT_ARMED;
        pliant.heard = now;
      }
      break;
    default: refused = "verb";
  }
  pliant_answer(sequence, refused ? "N" : "A", refused ? refused : "");
}

static void pliant_line(uint32_t now) { /* a whole line, without $ and line end */
  char *star = strrchr(pliant.line, '*');
  const char *p = pliant.line;
  int32_t sequence;
  uint32_t crc = 0;
  if (!star || strlen(star) != 9) return;
  for (const char *h = star + 1; *h; h++) {
    if (*h >= '0' && *h <= '9') crc = crc << 4 | (uint32_t)(*h - '0');
    else if (*h >= 'A' && *h <= 'F') crc = crc << 4 | (uint32_t)(*h - 'A' + 10);
    else return;
  }
  if (crc != pliant_crc(pliant.line, (uint16_t)(star - pliant.line))) return;
  *star = 0;
  if (*p == '-' || !pliant_number(&p, 5, &sequence) || sequence > 65535 || p[0] != ' ' || p[1] < 'A' || p[1] > 'Z')
    return;
  pliant_do(sequence, p[1], p + 2, now);
}

static void pliant_feed(uint8_t byte, uint32_t now) {
  pliant_tick(now);
  if (byte == '$') {
    pliant.length = 0;
    pliant.inside = 1;
  } else if (pliant.inside && (byte == '\n' || byte == '\r')) {
    pliant.line[pliant.length] = 0;
    pliant.inside = 0;
    if (strlen(pliant.line) == pliant.length) pliant_line(now);
  } else if (pliant.inside) {
    if (pliant.length >= PLIANT_LONGEST) pliant.inside = 0;
    else pliant.line[pliant.length++] = (char)byte;
  }
}

#endif
