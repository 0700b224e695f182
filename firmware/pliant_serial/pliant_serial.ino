/* A microcontroller for pliant: hobby servos, or the set points of pressure regulators, from a serial line.

   Arduino (AVR, SAMD, ESP32) and Raspberry Pi Pico (Arduino core). Counts are
     servos        microseconds of the pulse, 500 … 2500          (OUTPUT_SERVO)
     regulators    duty of a PWM output behind a low-pass filter, 0 … 255   (OUTPUT_PWM)
   whatever else is asked for is brought within. Channels 1 … 4 stand on the pins below. Without a command for the time that the computer
   declared, all go to the safe state that it declared. After a reset the board knows nothing of it: it starts unarmed, servos limp,
   PWM at 0, and the computer, which is no longer answered as it expects, stops. docs/hardware.md describes the protocol. Apache-2.0. */

#define PLIANT_CHANNELS 4
#include "pliant_protocol.h"

#define OUTPUT_SERVO /* or OUTPUT_PWM */
static const int PINS[PLIANT_CHANNELS] = {3, 5, 6, 9};

static int within(int32_t counts, int low, int high) { /* before it becomes an int, which has 16 bits on some boards */
  return counts < low ? low : counts > high ? high : (int)counts;
}

#ifdef OUTPUT_SERVO
#include <Servo.h>
static Servo servos[PLIANT_CHANNELS];
void pliant_apply(int channel, int32_t counts) {
  const int pulse = within(counts, 500, 2500);
  if (!servos[channel].attached()) { /* limp until the first command */
    servos[channel].writeMicroseconds(pulse); /* or it would begin in the middle */
    servos[channel].attach(PINS[channel], 500, 2500);
  }
  servos[channel].writeMicroseconds(pulse);
}
#else
void pliant_apply(int channel, int32_t counts) { analogWrite(PINS[channel], within(counts, 0, 255)); }
#endif

void pliant_write(const char *text) { Serial.print(text); }

void setup() {
  Serial.begin(115200);
#ifndef OUTPUT_SERVO
  for (int k = 0; k < PLIANT_CHANNELS; k++) {
    pinMode(PINS[k], OUTPUT);
    analogWrite(PINS[k], 0);
  }
#endif
  pliant_setup();
}

void loop() {
  pliant_tick(millis());
  while (Serial.available()) pliant_feed((uint8_t)Serial.read(), millis());
}
