/* A microcontroller for pliant: hobby servos, or the set points of pressure regulators, from a serial line.

   Arduino (AVR, SAMD, ESP32) and Raspberry Pi Pico (Arduino core). Counts are
     servos        microseconds of the pulse, 500 … 2500          (OUTPUT_SERVO)
     regulators    duty of a PWM output behind a low-pass filter, 0 … 255 (or analogWriteResolution)   (OUTPUT_PWM)
   Channels 1 … 4 stand on the pins below. Without a command for the time that the computer declared, all go to the safe state that it
   declared; so they do when the board resets, since it starts unarmed. docs/hardware.md describes the protocol. Apache-2.0. */

#define PLIANT_CHANNELS 4
#include "pliant_protocol.h"

#define OUTPUT_SERVO /* or OUTPUT_PWM */
static const int PINS[PLIANT_CHANNELS] = {3, 5, 6, 9};

#ifdef OUTPUT_SERVO
#include <Servo.h>
static Servo servos[PLIANT_CHANNELS];
void pliant_apply(int channel, int32_t counts) {
  if (!servos[channel].attached()) servos[channel].attach(PINS[channel]); /* limp until the first command */
  servos[channel].writeMicroseconds((int)counts);
}
#else
void pliant_apply(int channel, int32_t counts) { analogWrite(PINS[channel], (int)counts); }
#endif

void pliant_write(const char *text) { Serial.print(text); }

void setup() {
  Serial.begin(115200);
#ifndef OUTPUT_SERVO
  for (int k = 0; k < PLIANT_CHANNELS; k++) pinMode(PINS[k], OUTPUT);
#endif
  pliant_setup();
}

void loop() {
  pliant_tick(millis());
  while (Serial.available()) pliant_feed((uint8_t)Serial.read(), millis());
}
