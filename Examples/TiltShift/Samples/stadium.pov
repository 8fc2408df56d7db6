// A football ground on a match day: full stands, both teams on the pitch, tents, a car park, and houses beyond.

#version 3.7;
#include "Scenery.inc"

View(<-72, 104, -166>, <-3, 0, 3>, 49)
Daylight(<-0.55, 0.80, -0.62>, 0.6)
fog { fog_type 1 distance 3000 color srgb <0.78, 0.85, 0.91> }

#declare S = seed(1954);
#declare Red = Rgb(0.72, 0.16, 0.14);
#declare Blue = Rgb(0.16, 0.30, 0.62);
#declare White = Rgb(0.90, 0.90, 0.87);

// ---------------------------------------------------------------------------------------------------- The ground

plane { y, -0.05
    texture { pigment { bozo scale 9 turbulence 1 omega 0.7
        color_map { [0.2 srgb <0.36, 0.44, 0.24>] [0.5 srgb <0.46, 0.52, 0.30>] [0.8 srgb <0.55, 0.56, 0.37>] } } } }
#declare Asphalt = texture { pigment { bozo scale 2 turbulence 0.5 color_map { [0.3 srgb <0.42, 0.42, 0.42>] [0.7 srgb <0.50, 0.50, 0.49>] } } }
#declare Gravel = texture { pigment { bozo scale 0.8 color_map { [0.3 srgb <0.62, 0.58, 0.50>] [0.7 srgb <0.71, 0.67, 0.59>] } } }
#macro Strip(X1, Z1, X2, Z2, Y, T) box { <X1, -1, Z1>, <X2, Y, Z2> texture { T } } #end

// The running track, two straights and two bends, around the grass.
#declare Cinder = texture { pigment { bozo scale 3 color_map { [0.2 srgb <0.60, 0.33, 0.25>] [0.8 srgb <0.66, 0.38, 0.29>] } } }
#macro Oval(R, Y, T)
    union {
        box { <-40, -1, -R>, <40, Y, R> }
        cylinder { <-40, -1, 0>, <-40, Y, 0>, R }
        cylinder { <40, -1, 0>, <40, Y, 0>, R }
        texture { T }
    }
#end
Oval(49, 0.01, Gravel)
Oval(46, 0.03, Cinder)
#for (K, 0, 5)
    #declare Line_Paint = texture { pigment { color srgb <0.86, 0.80, 0.76> } }
    Oval(46.07 - K * 1.22, 0.034 + K * 0.004, Line_Paint)
    Oval(46.00 - K * 1.22, 0.036 + K * 0.004, Cinder)
#end
#declare Mown = texture {
    pigment {
        gradient x scale 10.5 pigment_map {
            [0.5 bozo scale 0.1 turbulence 0.5 color_map { [0.3 srgb <0.35, 0.45, 0.25>] [0.7 srgb <0.40, 0.49, 0.28>] }]
            [0.5 bozo scale 0.1 turbulence 0.5 color_map { [0.3 srgb <0.42, 0.51, 0.30>] [0.7 srgb <0.47, 0.55, 0.33>] }]
        }
    }
}
Oval(38.6, 0.07, Mown)

#macro Mark(X1, Z1, X2, Z2) box { <min(X1, X2) - 0.08, 0, min(Z1, Z2) - 0.08>, <max(X1, X2) + 0.08, 0.08, max(Z1, Z2) + 0.08> } #end
#macro Ring(R) difference { cylinder { 0, y * 0.08, R + 0.08 } cylinder { -y, y, R - 0.08 } } #end
union {
    Mark(-52, -33, 52, -33) Mark(-52, 33, 52, 33) Mark(-52, -33, -52, 33) Mark(52, -33, 52, 33) Mark(0, -33, 0, 33)
    Ring(9.15) cylinder { 0, y * 0.085, 0.25 }
    #for (I, -1, 1, 2)
        Mark(I * 52, -20, I * 35.5, -20) Mark(I * 52, 20, I * 35.5, 20) Mark(I * 35.5, -20, I * 35.5, 20)
        Mark(I * 52, -9, I * 46.5, -9) Mark(I * 52, 9, I * 46.5, 9) Mark(I * 46.5, -9, I * 46.5, 9)
        cylinder { <I * 41, 0, 0>, <I * 41, 0.085, 0>, 0.25 }
        difference { object { Ring(9.15) translate x * I * 41 } box { <I * 35.5, -1, -20>, <I * 60, 1, 20> } }
        // The goal.
        cylinder { <I * 52, 0, -3.7>, <I * 52, 2.5, -3.7>, 0.09 }
        cylinder { <I * 52, 0, 3.7>, <I * 52, 2.5, 3.7>, 0.09 }
        cylinder { <I * 52, 2.5, -3.7>, <I * 52, 2.5, 3.7>, 0.09 }
        #for (Z, -3.7, 3.7, 0.46) cylinder { <I * 52, 2.5, Z>, <I * 54, 0, Z>, 0.02 } #end
        #for (K, 1, 5) cylinder { <I * (52 + K * 0.33), 2.5 - K * 0.42, -3.7>, <I * (52 + K * 0.33), 2.5 - K * 0.42, 3.7>, 0.02 } #end
        #for (J, -1, 1, 2)
            cylinder { <I * 52, 0, J * 33>, <I * 52, 1.6, J * 33>, 0.04 }
        #end
    #end
    texture { White_Paint }
}

// The players: a tricot, shorts, two legs in stride.
#macro Player(Shirt, Shorts, S)
    union {
        cone { y * 0.85, 0.17, y * 1.5, 0.26 texture { pigment { rgb Shirt } } }
        sphere { y * 1.7, 0.16 texture { pigment { color srgb <0.70, 0.52, 0.40> } } }
        cone { y * 0.6, 0.22, y * 0.95, 0.19 texture { pigment { rgb Shorts } } }
        #for (I, -1, 1, 2)
            cylinder { <0, 0.7, I * 0.1>, <I * 0.28, 0.05, I * 0.12>, 0.08 texture { pigment { rgb Shirt * 0.9 } } }
            cylinder { <0, 1.4, I * 0.24>, <-I * 0.25, 0.95, I * 0.34>, 0.06 texture { pigment { rgb Shirt } } }
        #end
        scale 1.05 rotate y * 360 * rand(S)
    }
#end
#for (I, 0, 9)
    object { Player(Red, White, S) translate <Between(-34, 18, S), 0.07, Between(-27, 27, S)> }
    object { Player(Blue, Blue * 0.4, S) translate <Between(-20, 34, S), 0.07, Between(-27, 27, S)> }
#end
object { Player(Rgb(0.85, 0.75, 0.2), <0.02, 0.02, 0.02>, S) translate <-50, 0.07, 1> }
object { Player(Rgb(0.3, 0.65, 0.35), <0.02, 0.02, 0.02>, S) translate <50, 0.07, -1> }
object { Player(<0.02, 0.02, 0.02>, <0.02, 0.02, 0.02>, S) translate <6, 0.07, 5> }
sphere { <2, 0.3, 3>, 0.16 texture { White_Paint } }

// ------------------------------------------------------------------------------------------------------ The stands

// A spectator, sitting; most wear the colours of their team.
#macro Spectator(Team, S)
    #local C = Team;
    #if (Chance(0.62, S)) #local C = <rand(S), rand(S), rand(S)> * 0.45 + 0.03; #end
    union {
        cone { 0, 0.24, y * 0.72, 0.21 texture { pigment { rgb C } } }
        sphere { y * 0.92, 0.15 texture { pigment { rgb Varied(<0.46, 0.26, 0.17>, 0.8, S) } } }
        #if (Chance(0.12, S)) cylinder { <0, 0.6, 0.2>, <0.1, 1.35, 0.3>, 0.06 texture { pigment { rgb Team } } } #end
        #if (Chance(0.10, S)) cylinder { y * 1.0, y * 1.09, 0.2 texture { pigment { rgb Team } } } #end
    }
#end

// A stand L long with its first row along z = 0, rising towards +z; the roof is only over some.
#macro Stand(L, Steps, Team, Roofed, S)
    union {
        #for (K, 0, Steps - 1)
            box { <-L / 2, -1, K * 0.85>, <L / 2, 1.2 + K * 0.48, K * 0.85 + 0.86>
                texture { pigment { color srgb <0.62, 0.61, 0.58> } } }
            #local X = -L / 2 + 0.4;
            #while (X < L / 2 - 0.3)
                #if (abs(mod(X + L, 14) - 7) > 0.7)
                    #if (Chance(0.88, S))
                        object { Spectator(Team, S) translate <X, 1.2 + K * 0.48, K * 0.85 + Between(0.3, 0.6, S)> }
                    #end
                #end
                #local X = X + Between(0.52, 0.66, S);
            #end
        #end
        box { <-L / 2, 0, -0.12>, <L / 2, 2.0, 0> texture { White_Paint } }
        // Boards with stripes along the track.
        #for (K, 0, int(L / 6) - 1)
            box { <-L / 2 + K * 6 + 0.1, 0.3, -1.3>, <-L / 2 + K * 6 + 5.9, 1.25, -1.2>
                texture { pigment { gradient x scale 6 / 4 color_map { [0.3 rgb White] [0.3 rgb Pick_Colour(Canvas_Colours, S)] } } } }
        #end
        #local Z = Steps * 0.85;
        #local H = 1.2 + Steps * 0.48;
        box { <-L / 2, -1, Z>, <L / 2, H + 0.15, Z + 0.25> Plaster(Rgb(0.66, 0.56, 0.48)) }
        #for (I, -1, 1, 2) box { <I * L / 2 - 0.15, -1, 0>, <I * L / 2 + 0.15, H * 0.5, Z> texture { White_Paint } } #end
        #if (Roofed)
            #local N = int(L / 8);
            #for (K, 0, N)
                cylinder { <(K / N - 0.5) * L, 0, Z + 0.5>, <(K / N - 0.5) * L, H + 5, Z + 0.5>, 0.2 texture { White_Paint } }
                cylinder { <(K / N - 0.5) * L, H + 5.2, Z + 0.5>, <(K / N - 0.5) * L, H + 4.3, Z * 0.25>, 0.14 texture { White_Paint } }
            #end
            box { <-L / 2 - 1, 0, Z * 0.22>, <L / 2 + 1, 0.2, Z + 1.5>
                matrix <1, 0, 0, 0, 1, 0, 0, 0.07, 1, 0, H + 4.2, 0>
                texture { pigment { gradient x scale 1.1 color_map { [0 srgb <0.56, 0.60, 0.63>] [0.2 srgb <0.70, 0.74, 0.76>] [1 srgb <0.66, 0.70, 0.72>] } } } }
            #for (K, 0, N) // Flags on the roof.
                cylinder { <(K / N - 0.5) * L, H + 4.8, Z>, <(K / N - 0.5) * L, H + 9, Z>, 0.06 texture { White_Paint } }
                box { <0, -0.6, -0.02>, <1.9, 0.6, 0.02> rotate y * Between(-15, 35, S) translate <(K / N - 0.5) * L, H + 8.3, Z>
                    texture { pigment { rgb Team } } }
            #end
        #end
    }
#end
object { Stand(96, 16, Red, 1, S) translate z * 52 }
object { Stand(58, 9, Blue, 0, S) rotate y * 90 translate x * 92 }
// A grove takes the place of the fourth stand.
#for (K, 1, 46)
    #local P = <Between(-124, -91, S), 0, Between(-44, 44, S)>;
    #if (vlength(P - <-40, 0, 0>) > 56) object { LeafTree(Between(5, 10, S), S) translate P } #end
#end
#for (K, 1, 70) object { Person(S) translate <Between(-92, -60, S), 0, -50 - 14 * rand(S)> } #end
object { Stand(84, 6, Blue, 0, S) rotate y * 180 translate z * -52 }

// Floodlights.
#for (I, -1, 1, 2) #for (J, -1, 1, 2)
    union {
        cone { 0, 0.55, y * 26, 0.28 texture { Zinc } }
        box { <-2.6, 25, -0.3>, <2.6, 29, 0.1> texture { Zinc } }
        #for (X, -2, 2) #for (Y, 0, 2)
            cylinder { <X, 25.8 + Y * 1.2, -0.5>, <X, 25.8 + Y * 1.2, -0.2>, 0.4 texture { White_Paint } }
        #end #end
        rotate y * degrees(atan2(I * 74, J * 60)) translate <I * 80, 0, J * 54>
    }
#end #end

// ------------------------------------------------------------------------------------------- Around the ground

// Pavilions: white tents with a pointed roof; people between them.
#macro Tent(W, C)
    union {
        box { <-W, 0, -W>, <W, 2.3, W> texture { pigment { gradient x scale 1 color_map { [0.5 rgb White] [0.5 rgb C] } } } }
        #for (K, 0, 3)
            triangle { <-W - 0.3, 2.2, -W - 0.3>, <W + 0.3, 2.2, -W - 0.3>, <0, 4.6, 0>
                texture { pigment { rgb White * (0.9 + 0.05 * mod(K, 2)) } } rotate y * 90 * K }
        #end
        cylinder { y * 4.4, y * 6, 0.04 texture { Zinc } }
        box { <0, 5.4, -0.02>, <1, 6, 0.02> texture { pigment { rgb C } } }
    }
#end
Strip(-110, 69, 110, 77, 0.02, Gravel)
Strip(-110, -82, 110, -62, 0.02, Gravel)
#for (K, 0, 11)
    object { Tent(Between(1.9, 2.6, S), Pick_Colour(Canvas_Colours, S)) translate <-66 + K * 10.4, 0.02, -66 + Between(-0.6, 0.6, S)> }
    object { Umbrella(1.8, Pick_Colour(Canvas_Colours, S), White) translate <-61 + K * 10.4, 0.02, -73> }
    object { Umbrella(1.8, Pick_Colour(Canvas_Colours, S), White) translate <-58 + K * 10.4, 0.02, -76> }
#end
#for (K, 1, 260) object { Person(S) translate <Between(-95, 95, S), 0.02, -62 - 19 * rand(S)> } #end
#for (K, 1, 60) object { Person(S) translate <Between(-95, 95, S), 0.02, 69 + 8 * rand(S)> } #end

// The car park behind the roofed stand, and the street.
Strip(-100, 80, 100, 118, 0, Asphalt)
#for (R, 0, 3)
    #for (K, 0, 64)
        #local X = -92 + K * 2.85;
        box { <X - 1.5, 0, 84 + R * 9 - 2.4>, <X - 1.38, 0.015, 84 + R * 9 + 2.4> texture { White_Paint } }
        #if (Chance(0.84, S))
            object { Car(S) rotate y * (90 + 180 * Chance(0.5, S)) translate <X, 0, 84 + R * 9 + Between(-0.3, 0.3, S)> }
        #end
    #end
#end
Strip(-400, 126, 400, 134, 0, Asphalt)
#for (K, 0, 26)
    object { Car(S) rotate y * 180 * mod(K, 2) translate <-180 + K * 14 + Between(-4, 4, S), 0, 128.2 + 3.6 * (1 - mod(K, 2))> }
#end
#for (R, 0, 4)
    #for (K, 0, 22)
        #local X = -190 + K * 17 + Between(-1.5, 1.5, S);
        #local Z = 143 + R * 30 + Between(-2, 2, S);
        object { Any_House(Between(9, 12, S), 9, 2, Between(38, 48, S), S) rotate y * (Between(-4, 4, S) + 90 * Chance(0.2, S)) translate <X, 0, Z> }
        #for (T, 1, 2) #if (Chance(0.8, S)) object { LeafTree(Between(4, 8, S), S) translate <X + Between(-6, 6, S), 0, Z + Between(13, 18, S)> } #end #end
        object { Bush(1.2, S) translate <X + 8, 0, Z - 3> }
    #end
#end

// Trees around the ground.
#for (K, 0, 44)
    object { LeafTree(Between(7, 11, S), S) translate <-118 + K * 5.4, 0, 121.5 + Between(-1, 1, S)> }
#end
#for (I, -1, 1, 2) #for (K, 1, 120)
    #local P = <I * Between(108, 175, S), 0, Between(-75, 118, S)>;
    object { LeafTree(Between(6, 12, S), S) translate P }
#end #end
#for (K, 1, 80) object { LeafTree(Between(5, 9, S), S) translate <Between(-130, 120, S), 0, Between(-112, -86, S)> } #end
