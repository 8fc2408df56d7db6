// A small old town and its market square, seen from the tower of the church.

#version 3.7;
#include "Scenery.inc"

#declare Eye = <6, 78, -70>;
View(Eye, <2, 0, 78>, 48)
Daylight(<-0.72, 0.80, -0.52>, 0.9)
fog { fog_type 1 distance 2200 color srgb <0.78, 0.84, 0.90> }

#declare S = seed(1848);

// ---------------------------------------------------------------------------------------- The plan of the town
//
// Blocks lie in a grid that is bent a little. A block is a ring of houses, wall to wall, around a yard.

#declare Street = 8;
#macro Crossing(I, J)
    <I * 52 + 9 * sin(J * 0.9 + I * 0.4) + 4 * sin(I * 2.3), 0, J * 44 + 8 * sin(I * 0.8 + 1) + 4 * sin(J * 1.7 + I)>
#end

// The market square takes the place of these two blocks.
#macro Is_Square(I, J) (J = 1 & (I = -1 | I = 0)) #end

// A row of houses from A to B along a street, with so many floors at most; the yard is on the left of that direction.
#macro Row(A, B, Highest, S)
    #local Along = vnormalize(B - A);
    #local Inward = vcross(Along, y);
    #local Angle = degrees(atan2(-Along.z, Along.x));
    #local Left = vlength(B - A);
    #local At = A;
    #while (Left > 4.5)
        #local W = Between(6.5, 11, S);
        #if (Left - W < 6) #local W = min(Left, 13); #end
        #local D = Between(9, 11, S);
        #local Middle = At + Along * W / 2;
        #local Seen_Side = (vlength(At - A) < 0.1 | Left - W < 4.5);
        #local Seen_Front = (vdot(Eye - Middle, -Inward) > 0);
        #local Framed = Chance(0.14, S);
        #local Wall = Varied(Pick_Colour(Wall_Colours, S), 0.10, S);
        #if (Framed) #local Wall = Rgb(0.90, 0.87, 0.79); #end
        #local Roof = Varied(Pick_Colour(Roof_Colours, S), 0.22, S);
        #local Floors = min(Highest, 2 + Chance(0.62, S) + Chance(0.12, S));
        #if (W < 9 & Chance(0.28, S))
            // The gable faces the street.
            object {
                House(D, W, Floors, Between(46, 54, S), Wall, Roof, Seen_Side, Seen_Side, 1, Framed, 1, S)
                translate -z * W / 2 rotate y * 90 translate z * D / 2
                rotate y * Angle translate Middle
            }
        #else
            object {
                House(W, D, Floors, Between(40, 50, S), Wall, Roof, Seen_Front, !Seen_Front, Seen_Side, Framed, 1, S)
                rotate y * Angle translate Middle
            }
        #end
        #local At = At + Along * W;
        #local Left = Left - W;
    #end
#end

#macro Block(I, J, S)
    #local Corners = array[4];
    #local Corners[0] = Crossing(I, J);
    #local Corners[1] = Crossing(I + 1, J);
    #local Corners[2] = Crossing(I + 1, J + 1);
    #local Corners[3] = Crossing(I, J + 1);
    #local Centre = (Corners[0] + Corners[1] + Corners[2] + Corners[3]) / 4;
    #for (K, 0, 3)
        #local Corners[K] = Corners[K] + vnormalize(Centre - Corners[K]) * Street * 0.75;
    #end
    #for (K, 0, 3)
        #local A = Corners[K]; #local B = Corners[mod(K + 1, 4)];
        #local T = vnormalize(B - A);
        Row(A + T * 0.2, B - T * 10.6, 4 - 2 * (J = 0), S)
    #end
    // The yard: grass, trees and sheds.
    polygon { 5, Corners[0], Corners[1], Corners[2], Corners[3], Corners[0] translate y * 0.10
        texture { pigment { bozo scale 3 turbulence 0.5 color_map { [0.3 srgb <0.44, 0.48, 0.30>] [0.6 srgb <0.52, 0.50, 0.42>] } } } }
    #for (K, 1, 7)
        #local P = Centre + <Between(-9, 9, S), 0, Between(-6, 6, S)>;
        #if (Chance(0.75, S))
            object { LeafTree(Between(5, 10, S), S) translate P }
        #else
            object { House(Between(3, 5, S), 3.5, 1, 30, Rgb(0.62, 0.52, 0.42), Rgb(0.50, 0.33, 0.27), 0, 0, 0, 0, 0, S) rotate y * 90 * int(rand(S) * 4) translate P }
        #end
    #end
#end

// Houses on the near side of the square are lower, and leave the view free.
#for (J, -2, 8)
    #for (I, -5, 4)
        #local Middle = Crossing(I, J) + <26, 0, 22>;
        #if (!Is_Square(I, J) & abs(Middle.x) < 60 + (Middle.z + 70) * 0.55 & Middle.z > -20)
            Block(I, J, S)
        #end
    #end
#end

// ------------------------------------------------------------------------------------------------ Streets, cars

plane {
    y, 0
    texture {
        pigment {
            cells scale <0.30, 9, 0.22> warp { turbulence 0.02 }
            color_map { [0 srgb <0.47, 0.45, 0.43>] [1 srgb <0.60, 0.58, 0.55>] }
        }
    }
    texture {
        pigment { bozo scale 6 turbulence 0.6 color_map { [0.35 rgbt <0.05, 0.05, 0.05, 1>] [0.8 rgbt <0.05, 0.05, 0.05, 0.7>] } }
    }
}

#macro Parked_Along(A, B, S)
    #local T = vnormalize(B - A);
    #local N = vcross(T, y);
    #local Angle = degrees(atan2(-T.z, T.x));
    #local D = 12;
    #while (D < vlength(B - A) - 12)
        #if (Chance(0.5, S))
            object { Car(S) rotate y * (Angle + 180 * Chance(0.3, S)) translate A + T * D + N * 2.1 }
        #else #if (Chance(0.35, S))
            object { Car(S) rotate y * (Angle + 180) translate A + T * D - N * 1.2 }
        #end #end
        #if (Chance(0.6, S)) object { Person(S) translate A + T * (D + 2.8) - N * Between(-1, 3, S) } #end
        #local D = D + Between(5.2, 8, S);
    #end
#end

#for (J, -1, 8)
    #for (I, -4, 4)
        Parked_Along(Crossing(I, J), Crossing(I + 1, J), S)
        #if (!(I = 0 & J = 1)) Parked_Along(Crossing(I, J), Crossing(I, J + 1), S) #end
    #end
#end

// -------------------------------------------------------------------------------------------- The market square

#declare Market = (Crossing(-1, 1) + Crossing(1, 1) + Crossing(1, 2) + Crossing(-1, 2)) / 4;

#macro Stall(S)
    #local C = Pick_Colour(Canvas_Colours, S);
    union {
        box { <-1.5, 0.75, -0.7>, <1.5, 0.85, 0.7> texture { Teak } }
        box { <-1.45, 0, -0.6>, <1.45, 0.75, 0.6> texture { pigment { rgb C * 0.6 } } }
        #for (I, 0, 17)
            sphere { <-1.3 + mod(I, 9) * 0.32, 0.95, -0.4 + 0.5 * int(I / 9)>, 0.17
                texture { pigment { rgb <Between(0.3, 0.8, S), Between(0.1, 0.55, S), 0.05> } } }
        #end
        #for (I, -1, 1, 2) #for (J, -1, 1, 2)
            cylinder { <I * 1.6, 0, J * 1.0>, <I * 1.6, 2.3, J * 1.0>, 0.04 texture { White_Paint } }
        #end #end
        #for (I, 0, 1)
            box { <-1.75, 0, 0>, <1.75, 0.04, 1.35>
                texture { pigment { gradient x scale 0.7 color_map { [0.5 rgb C] [0.5 rgb <0.85, 0.83, 0.78>] } } }
                rotate x * 24 rotate y * 180 * I translate y * 2.75 }
        #end
    }
#end

#for (Z, 0, 3)
    #for (X, 0, 14)
        #local P = Market + <-37 + X * 5.2 + Between(-0.4, 0.4, S), 0, -6 + Z * 5.5 + Between(-0.3, 0.3, S)>;
        #if (vlength(P - Market) > 6.5 & Chance(0.9, S))
            #if (Chance(0.62, S))
                object { Stall(S) rotate y * Between(-4, 4, S) translate P }
            #else
                #local C = Pick_Colour(Canvas_Colours, S);
                #local C2 = <0.85, 0.83, 0.78>;
                #if (Chance(0.5, S)) #local C2 = C; #end
                object { Umbrella(1.9, C, C2) rotate y * 90 * rand(S) translate P }
                box { <-0.9, 0.7, -0.7>, <0.9, 0.8, 0.7> texture { Teak } translate P }
            #end
            #for (K, 1, 3) object { Person(S) translate P + <Between(-2, 2, S), 0, Between(1.6, 3.6, S)> } #end
        #end
    #end
#end

// The fountain in the middle.
union {
    difference {
        cylinder { 0, y * 0.8, 3.6 } cylinder { y * 0.3, y, 3.2 }
        texture { Stone_Grey }
    }
    cylinder { y * 0.3, y * 0.62, 3.2 texture { pigment { srgb <0.40, 0.52, 0.55> } normal { bumps 0.2 scale 0.2 } finish { reflection { 0.1, 0.6 } } } }
    cylinder { 0, y * 3, 0.35 texture { Stone_Grey } }
    cone { y * 1.9, 0.3, y * 2.2, 1.2 texture { Stone_Grey } }
    sphere { y * 3.3, 0.5 texture { Stone_Grey } }
    translate Market
}
#for (K, 0, 9)
    object { LeafTree(Between(6, 8, S), S) translate Market + <-27 + K * 6, 0, 16.5> }
#end
#for (K, 1, 130) object { Person(S) translate Market + <Between(-34, 34, S), 0, Between(-15, 15, S)> } #end

// Parked cars at both ends of the square, tables of a cafe in front of the houses.
#for (I, -1, 1, 2)
    #for (K, 0, 7)
        #for (R, 0, 1)
            #if (Chance(0.75, S))
                object { Car(S) rotate y * (180 * Chance(0.5, S) + Between(-3, 3, S)) translate Market + <I * (47 + R * 6), 0, -9 + K * 2.9> }
            #end
        #end
    #end
#end
#for (K, 0, 8)
    #local P = Market + <5 + 3.4 * K, 0, 20.5 + 0.3 * K>;
    object { Umbrella(1.5, Rgb(0.88, 0.80, 0.60), Rgb(0.88, 0.80, 0.60)) translate P }
    cylinder { y * 0.7, y * 0.76, 0.6 texture { White_Paint } translate P }
    #for (I, 1, 2) object { Person(S) translate P + <Between(-1.4, 1.4, S), 0, -1> } #end
#end

// ------------------------------------------------------------------------------- The town hall and the old gate tower

object { Spire(3.6, 24, 13) rotate y * 8 translate Market + <-31, 0, 24> }
object { Spire(3.2, 27, 9) rotate y * -12 translate Crossing(2, 4) }
