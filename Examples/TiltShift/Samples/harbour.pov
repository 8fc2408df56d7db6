// A small harbour: gabled warehouses on the quay, yachts at their jetties, fishing boats, a mole with a lighthouse.

#version 3.7;
#include "Scenery.inc"

View(<14, 66, -64>, <-3, 0, 84>, 48)
Daylight(<0.75, 0.75, -0.42>, 0.7)
fog { fog_type 1 distance 2200 color srgb <0.78, 0.85, 0.91> }

#declare S = seed(1907);
#declare Quay = 2.2;        // The height of the quays above the water.

plane { y, 0 hollow Water(Rgb(0.13, 0.31, 0.37), 1.6, 0.10) }

// ------------------------------------------------------------------------------------------------------- Quays

#declare Paving = texture {
    pigment { cells scale <0.9, 9, 0.6> color_map { [0 srgb <0.58, 0.56, 0.52>] [1 srgb <0.68, 0.66, 0.61>] } }
}
#declare Wall_Stone = texture {
    pigment { brick srgb <0.36, 0.36, 0.34>, srgb <0.53, 0.52, 0.48> brick_size <1.4, 0.55, 0.9> mortar 0.05 }
    normal { granite 0.2 }
}

// A piece of quay between two corners, with a kerb of stone, its wall going down into the water.
#macro Quay_Box(A, B)
    box { <A.x, -3, A.z>, <B.x, Quay - 0.25, B.z> texture { Wall_Stone } }
    box { <A.x - 0.15, Quay - 0.25, A.z - 0.15>, <B.x + 0.15, Quay - 0.02, B.z + 0.15> texture { Stone_Grey } }
    box { <A.x + 0.6, Quay - 0.2, A.z + 0.6>, <B.x - 0.6, Quay, B.z - 0.6> texture { Paving } }
#end
#declare Front = 46;        // The edge of the near quay (z) and of the left quay (x).
#declare West = -66;
Quay_Box(<-300, 0, -120>, <300, 0, Front>)
Quay_Box(<-300, 0, Front - 2>, <West, 0, 205>)

#macro Bollard(P) union { cylinder { 0, y * 0.5, 0.2 } cylinder { y * 0.45, y * 0.65, 0.3 } texture { Tyre } translate P } #end
#for (X, -60, 80, 10) Bollard(<X, Quay, Front - 0.9>) #end
#for (Z, 56, 196, 10) Bollard(<West - 0.9, Quay, Z>) #end

// -------------------------------------------------------------------------------------------------- Warehouses

#declare Board_Colours = array[8] {
    <0.62, 0.24, 0.18>, <0.86, 0.80, 0.66>, <0.80, 0.62, 0.32>, <0.44, 0.52, 0.50>, <0.58, 0.28, 0.22>,
    <0.88, 0.87, 0.83>, <0.40, 0.47, 0.56>, <0.72, 0.42, 0.26>
}

// A warehouse of painted boards with its gable, its loading doors and a hoist towards -z.
#macro Warehouse(W, D, H, Pitch, S)
    #local C = Varied(Pick_Colour(Board_Colours, S), 0.15, S);
    #local Roof_Base = Tiles(Varied(Pick_Colour(Roof_Colours, S), 0.25, S))
    #local Roof = texture { Roof_Base translate <rand(S), rand(S), rand(S)> * 40 }
    #local Rise = W / 2 * tan(radians(Pitch));
    #local Floors = int(H / 3);
    union {
        union {
            object {
                Gabled_Walls(D, W, H, Rise)
                texture { pigment { rgb C } }
                texture {
                    pigment { gradient x + z scale 0.5 color_map { [0 rgbt <0, 0, 0, 0.55>] [0.15 rgbt <0, 0, 0, 1>] [1 rgbt <0, 0, 0, 0.9>] } }
                }
            }
            Gabled_Roof(D, W, H, Pitch, 0.45, 0.5, Roof)
            translate -z * W / 2 rotate y * 90 translate z * D / 2
        }
        box { <-W / 2 - 0.05, 0, -0.05>, <W / 2 + 0.05, 0.5, D + 0.05> texture { Stone_Grey } }
        // White corner boards and verges.
        #for (I, -1, 1, 2)
            box { <-0.12, 0, -0.06>, <0.12, H, 0.1> translate x * I * (W / 2 - 0.1) texture { White_Paint } }
            box { <0, -0.30, -0.55>, <W / 2 / cos(radians(Pitch)) + 0.5, 0.05, -0.40> rotate z * -Pitch scale <I, 1, 1>
                translate y * (H + Rise + 0.1) texture { White_Paint } }
        #end
        // Loading doors one above the other at both ends, with windows on both sides of them.
        #for (End, 0, 1)
            union {
                #for (F, 0, Floors)
                    #if (F < Floors | Rise > 4)
                        box { <-0.95, 0.5 + F * 3, -0.1>, <0.95, 2.7 + F * 3, 0.1> texture { pigment { rgb C * 0.45 + 0.02 } } }
                        box { <-1.1, 2.7 + F * 3, -0.14>, <1.1, 2.85 + F * 3, 0.1> texture { White_Paint } }
                        box { <-0.03, 0.5 + F * 3, -0.12>, <0.03, 2.7 + F * 3, 0.1> texture { White_Paint } }
                    #end
                    #if (F < Floors)
                        #for (I, -1, 1, 2)
                            #for (K, 0, int((W / 2 - 2.6) / 2))
                                object { Pick(Windows, S) translate <I * (2.3 + K * 2), 1 + F * 3, 0> }
                            #end
                        #end
                    #end
                #end
                rotate y * 180 * End translate z * D * End
            }
        #end
        // The hoist.
        box { <-0.12, H + Rise - 1.1, -1.8>, <0.12, H + Rise - 0.8, 0.2> texture { Dark_Beam } }
        cylinder { <0, H + Rise - 1, -1.6>, <0, H * 0.5, -1.6>, 0.03 texture { Dark_Beam } }
        // Windows on the long sides.
        #for (I, -1, 1, 2)
            union { Facade(D - 1, Floors, 3, 0, C, 0, S) rotate y * -90 * I translate <I * W / 2, 0, D / 2> }
        #end
        #if (Chance(0.6, S)) object { Chimney(1.2, S) translate <0.4, H + Rise - 0.2, D * Between(0.4, 0.8, S)> } #end
        #for (K, 1, 3)
            #if (Chance(0.5, S))
                box { <-0.5, 0.2, 0>, <0.5, 0.31, 1.3> texture { Glass_Panes[1] } rotate x * Pitch rotate y * 90 * (1 - 2 * Chance(0.5, S) ) 
                    translate <0, H + Rise, 0> translate z * D * K / 4 }
            #end
        #end
    }
#end

// The row on the left quay, gables to the water, and more houses behind it.
#declare Z = 62;
#while (Z < 190)
    #local W = Between(8.5, 12, S);
    object { Warehouse(W, Between(16, 21, S), 6 + 3 * Chance(0.7, S), Between(42, 50, S), S) rotate y * -90 translate <West - 13, Quay, Z + W / 2> }
    #declare Z = Z + W + 0.3 + 3.5 * Chance(0.2, S);
#end
#for (Row, 0, 3)
    #declare Z = 40;
    #while (Z < 205)
        #local W = Between(9, 14, S);
        object { Any_House(W - 1.5, 9, 2 + Chance(0.5, S), 44, S) rotate y * (-90 + Between(-6, 6, S)) translate <West - 48 - Row * 20, Quay + Row * 2.0, Z + W / 2> }
        #if (Chance(0.7, S)) object { LeafTree(Between(5, 9, S), S) translate <West - 44 - Row * 20 + Between(-2, 2, S), Quay + Row * 2.0, Z> } #end
        #declare Z = Z + W;
    #end
    box { <West - 200, -1, 20>, <West - 42 - Row * 20, Quay + Row * 2.0 - 0.01, 215>
        texture { pigment { bozo scale 4 color_map { [0.3 srgb <0.46, 0.50, 0.31>] [0.6 srgb <0.54, 0.53, 0.40>] } } } }
#end

// The row on the near quay, seen from behind and above.
#declare X = -58;
#while (X < 62)
    #local W = Between(9, 12.5, S);
    #if (X < -8 | X > 6)
        object { Warehouse(W, Between(13, 17, S), 6, Between(38, 46, S), S) rotate y * 180 translate <X + W / 2, Quay, 23> }
    #end
    #declare X = X + W + 0.3;
#end

// ------------------------------------------------------------------------------------------- Things on the quays

#macro Crates(S)
    union {
        #for (I, 1, 9)
            box { <-0.6, 0, -0.5>, <0.6, 0.8, 0.5> rotate y * Between(-12, 12, S)
                translate <int(rand(S) * 3) * 1.4, 0.8 * (I > 6), int(rand(S) * 2) * 1.2>
                texture { pigment { gradient y scale 0.2 color_map { [0 srgb <0.40, 0.30, 0.20>] [0.15 srgb <0.66, 0.52, 0.36>] } } } }
        #end
        #for (I, 1, 5)
            cylinder { 0, y * 0.95, 0.32 translate <Between(-2.4, -0.9, S), 0, Between(-0.6, 1.6, S)> texture { pigment { rgb Pick_Colour(Canvas_Colours, S) } } }
        #end
    }
#end
#for (X, -62, 80, 9)
    object { Crates(S) rotate y * 90 * int(rand(S) * 4) translate <X + Between(-2, 2, S), Quay, Front - 6.5> }
    #if (Chance(0.6, S)) object { Car(S) rotate y * 180 * Chance(0.5, S) translate <X + 4.5, Quay, Front - 10.8> } #end
    #for (K, 1, 3) object { Person(S) translate <X + Between(-4, 4, S), Quay, Front - Between(1.5, 12, S)> } #end
#end
#for (Z, 54, 196, 8)
    #if (Chance(0.55, S)) object { Crates(S) rotate y * 90 * int(rand(S) * 4) translate <West - 4, Quay, Z> } #end
    #if (Chance(0.5, S)) object { Car(S) rotate y * (90 + 180 * Chance(0.5, S)) translate <West - 9, Quay, Z + 3> } #end
    #for (K, 1, 3) object { Person(S) translate <West - Between(1.5, 11, S), Quay, Z + Between(-4, 4, S)> } #end
#end

// A crane on the near quay.
#declare Crane_Paint = Gloss(Rgb(0.78, 0.56, 0.20))
union {
    #for (I, -1, 1, 2) #for (J, -1, 1, 2)
        cylinder { <I * 2.2, 0, J * 2.2>, <I * 1.5, 6, J * 1.5>, 0.22 }
    #end #end
    box { <-2, 6, -2>, <2, 6.5, 2> }
    box { <-1.6, 6.8, -2.6>, <1.6, 9.6, 1.4> }
    box { <-1.0, 7.4, 1.0>, <1.0, 9.0, 1.6> texture { Car_Glass } }
    #for (I, -1, 1, 2)
        cylinder { <I * 0.9, 8, 1>, <I * 0.25, 17, 12>, 0.13 }
        #for (K, 0, 8)
            cylinder { <-0.9 + 0.072 * K * 1.0, 8 + K, 1 + K * 11 / 9>, <0.9 - 0.072 * (K + 1), 8 + K + 1, 1 + (K + 1) * 11 / 9>, 0.05 }
        #end
    #end
    cylinder { <0, 9.6, -1.5>, <0, 17, 12>, 0.04 texture { Tyre } }
    cylinder { <0, 17, 12>, <0, 5, 12>, 0.04 texture { Tyre } }
    box { <-0.7, 4, 11.3>, <0.7, 5, 12.7> texture { Teak } }
    texture { Crane_Paint }
    rotate y * 28 translate <20, Quay, Front - 4.5>
}

// ----------------------------------------------------------------------------------------------- Jetties, boats

// A jetty from the left quay towards +x, with boats on both sides, bows to the jetty.
#macro Jetty(Z, L, S)
    union {
        box { <West, 0.85, Z - 1.1>, <West + L, 1.1, Z + 1.1>
            texture { pigment { gradient x scale 0.25 color_map { [0 srgb <0.38, 0.33, 0.27>] [0.12 srgb <0.62, 0.55, 0.46>] [1 srgb <0.66, 0.60, 0.50>] } } } }
        #local X = 3;
        #while (X < L)
            #for (I, -1, 1, 2)
                cylinder { <West + X, -2, Z + I * 1.2>, <West + X, 1.7, Z + I * 1.2>, 0.16 texture { Dark_Beam } }
            #end
            #if (mod(X, 12) < 4) box { <West + X - 0.15, 1.1, Z + 0.8>, <West + X + 0.15, 2.0, Z + 1.0> texture { White_Paint } } #end
            #local X = X + 4;
        #end
        #for (I, -1, 1, 2)
            #local X = 5;
            #while (X < L - 3)
                #local Size = Between(6.5, 11, S);
                #local Gap = Size * 0.34 + Between(0.9, 1.5, S);
                #if (Chance(0.88, S))
                    object {
                        #if (Chance(0.70, S)) Yacht(Size, S) #else Motor_Boat(min(Size, 8), S) #end
                        rotate y * (90 * I + Between(-2, 2, S))
                        translate <West + X + Gap / 2, 0, Z - I * (2.1 + Size / 2 + 0.5)>
                    }
                #end
                cylinder { <West + X + Gap, -2, Z - I * 13.5>, <West + X + Gap, 2, Z - I * 13.5>, 0.15 texture { Dark_Beam } }
                #local X = X + Gap + 0.5;
            #end
        #end
        #for (K, 1, 5) object { Person(S) translate <West + Between(3, L, S), 1.1, Z + Between(-0.8, 0.8, S)> } #end
    }
#end
Jetty(76, 70, S)
Jetty(112, 76, S)
Jetty(147, 58, S)

// Fishing boats along the near quay and at the mole.
#declare X = -52;
#while (X < 74)
    #local Size = Between(10, 15, S);
    #if (Chance(0.85, S))
        object { Fishing_Boat(Size, S) rotate y * (180 * Chance(0.5, S) + Between(-2, 2, S)) translate <X + Size / 2, 0, Front + Size * 0.165 + 0.8> }
    #end
    #declare X = X + Size + Between(1, 4, S);
#end
#for (K, 1, 9)
    object { Rowing_Boat(S) rotate y * Between(0, 360, S) translate <Between(26, 56, S), 0, 58 + K * 6> }
#end
object { Fishing_Boat(14, S) rotate y * 120 translate <22, 0, 92> }
object { Motor_Boat(8, S) rotate y * 75 translate <32, 0, 138> }
object { Yacht(10, S) rotate y * 62 translate <24, 0, 160> }

#for (K, 0, 8)
    object { Sailing(Between(8, 11, S), S) rotate y * Between(10, 60, S) translate <Between(-70, 190, S), 0, 225 + K * 17> }
#end

// ------------------------------------------------------------------------------------------ Mole and lighthouse

#macro Mole(T) <92 - 78 * pow(T, 2.2) + 6 * T, 0, 34 + 130 * T - 6 * T * T> #end
#declare Rock_Stone = texture {
    pigment { granite scale 3 color_map { [0 srgb <0.36, 0.35, 0.33>] [0.6 srgb <0.56, 0.54, 0.50>] [1 srgb <0.66, 0.63, 0.58>] } }
    normal { granite 0.4 scale 0.8 }
}
#declare N = 90;
#for (I, 0, N)
    #local P = Mole(I / N);
    #local Q = Mole((I + 1) / N);
    #local Along = vnormalize(Q - P);
    #local Side = vcross(y, Along);
    cylinder { P - y * 3, P + y * 2.6, 3.2 texture { Paving } }
    cylinder { P + Side * 2.9 + y * 2.6, Q + Side * 2.9 + y * 2.6, 0.45 texture { Stone_Grey } }
    #for (K, 1, 16)
        #local O = Between(2.8, 7.5, S) * (1 - 2 * (K > 9));
        superellipsoid { <0.55, 0.6> scale <Between(0.6, 1.4, S), Between(0.5, 1, S), Between(0.6, 1.3, S)> rotate <rand(S), rand(S), rand(S)> * 360
            translate P + Side * O + Along * Between(-1, 1, S) + y * (2.6 - 0.42 * abs(O)) texture { Rock_Stone } }
    #end
    #if (mod(I, 6) = 2) object { Person(S) translate P + y * 2.6 + Side * Between(-2, 1, S) } #end
#end
#declare Head = Mole(1);
cylinder { Head - y * 3, Head + y * 3, 8 texture { Paving } }
#for (K, 1, 150)
    #local A = rand(S) * 360; #local R = Between(7.6, 11.5, S);
    superellipsoid { <0.55, 0.6> scale <Between(0.7, 1.6, S), Between(0.6, 1.1, S), Between(0.7, 1.5, S)> rotate <rand(S), rand(S), rand(S)> * 360
        translate vrotate(x * R, y * A) + Head + y * (2.6 - 0.75 * (R - 7.6)) texture { Rock_Stone } }
#end
union {
    difference {
        cone { 0, 3.4, y * 22, 2.1 }
        cylinder { -y, y * 0.1, 1 }
        texture { pigment { gradient y scale 11 color_map { [0.5 srgb <0.92, 0.91, 0.87>] [0.5 srgb <0.70, 0.17, 0.14>] } } }
    }
    cylinder { y * 22, y * 22.4, 3.1 texture { Stone_Grey } }
    #for (I, 0, 17)
        cylinder { <2.95, 22.4, 0>, <2.95, 23.5, 0>, 0.05 rotate y * 20 * I texture { White_Paint } }
    #end
    torus { 2.95, 0.06 translate y * 23.5 texture { White_Paint } }
    cylinder { y * 22.4, y * 25.2, 1.5 texture { Glass_Panes[1] } }
    #for (I, 0, 7) box { <1.45, 22.4, -0.08>, <1.6, 25.2, 0.08> rotate y * 45 * I texture { White_Paint } } #end
    cone { y * 25.2, 2.0, y * 26.8, 0.25 Gloss(Rgb(0.70, 0.17, 0.14)) }
    sphere { y * 27, 0.35 texture { Zinc } }
    #for (I, 0, 2) box { <-0.5, 5 + I * 6, -3.3 + I * 0.36>, <0.5, 6.5 + I * 6, 0> texture { Glass_Panes[0] } rotate y * (20 - I * 30) } #end
    translate Head + y * 3
}
object { Any_House(8, 6, 1, 40, S) rotate y * 30 translate Mole(0.93) + <1, 2.9, 2> }
